import { existsSync, linkSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import type { OnProgress } from '../database.ts'
import { createPrivateFile, fsyncPath } from '../private-file.ts'
import { findIntegrityErrors } from './self-check-sqlite.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

/**
 * Writes a compact copy of one snapshot, under a name of its own until it is whole, looked through and on disk.
 *
 * VACUUM INTO reads a snapshot, where SQLite's page-wise backup starts over whenever another process writes. It makes the
 * indexes anew, so that a copy does not show what is wrong with the database itself: that is looked through as well.
 *
 * @throws when either is damaged, or the copy lacks something
 */
export function backUp({ raw }: SqliteConnection, target: string, onProgress: OnProgress = () => {}): void {
  if (existsSync(target)) throw new Error(`${target} exists already: a backup never replaces a file`)
  const partial = `${target}.${process.pid}.partial`
  try {
    onProgress('checking the database', 0, stepCount)
    requireIntegrity(raw, 'The database is damaged, and nothing was copied')
    createPrivateFile(partial)
    onProgress('copying', 1, stepCount)
    const before = countRows(raw)
    raw.prepare('vacuum into ?').run(partial)
    onProgress('checking the copy', 2, stepCount)
    requireCompleteCopy(partial, { atLeast: before, atMost: countRows(raw) })
    onProgress('writing to disk', 3, stepCount)
    fsyncPath(partial)
    // A link, because unlike a new name it never replaces what another backup has put there meanwhile.
    linkSync(partial, target)
  } finally {
    rmSync(partial, { force: true })
  }
  fsyncPath(dirname(resolve(target)))
  onProgress('steps', stepCount, stepCount)
}

const stepCount = 4

function requireIntegrity(raw: Sqlite.Database, sentence: string): void {
  const faults = findIntegrityErrors(raw)
  if (faults.length > 0) throw new Error(`${sentence}: ${faults.slice(0, 3).join('; ')}`)
}

/** Opens the copy as a restored one would be, and holds it against what the database had before and after. */
function requireCompleteCopy(
  path: string,
  { atLeast, atMost }: { atLeast: TableRowCounts; atMost: TableRowCounts },
): void {
  const copy = new Sqlite(path, { readonly: true, fileMustExist: true })
  try {
    requireIntegrity(copy, 'The copy is damaged, and was removed')
    const sizes = countRows(copy)
    const isBetween = sizes.every((size, i) => size >= (atLeast[i] ?? 0) && size <= (atMost[i] ?? 0))
    if (!isBetween) throw new Error('The copy does not have the rows of the database, and was removed')
  } finally {
    copy.close()
  }
}

/** How many rows the tables have to which rows are only added. */
type TableRowCounts = readonly number[]

function countRows(raw: Sqlite.Database): TableRowCounts {
  return ['payouts', 'transfers', 'deposits', 'payout_events'].map(
    (table) => raw.prepare(`select count(*) from ${table}`).pluck().get() as number,
  )
}
