import Sqlite from 'better-sqlite3'
import type { OnProgress } from '../database.ts'
import { createPrivateFile, startNewFile } from '../private-file.ts'
import { findIntegrityErrors } from './sqlite-checks.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

/**
 * Uses VACUUM INTO, because SQLite's backup API restarts whenever another process writes. Checks the original database
 * too: VACUUM rebuilds the indexes, so a damaged index is not visible in the copy.
 *
 * @throws Error when the database or the copy is damaged, or the copy is incomplete
 */
export function backUp({ raw }: SqliteConnection, target: string, onProgress: OnProgress = () => {}): void {
  const { path, publish, remove } = startNewFile(target)
  try {
    onProgress('checking the database', 0, stepCount)
    requireIntegrity(raw, 'The database is damaged, and nothing was copied')
    createPrivateFile(path)
    onProgress('copying', 1, stepCount)
    const before = countRows(raw)
    raw.prepare('vacuum into ?').run(path)
    onProgress('checking the copy', 2, stepCount)
    requireCompleteCopy(path, { atLeast: before, atMost: countRows(raw) })
    onProgress('writing to disk', 3, stepCount)
    publish()
  } finally {
    remove()
  }
  onProgress('steps', stepCount, stepCount)
}

const stepCount = 4

function requireIntegrity(raw: Sqlite.Database, sentence: string): void {
  const errors = findIntegrityErrors(raw)
  if (errors.length > 0) throw new Error(`${sentence}: ${errors.slice(0, 3).join('; ')}`)
}

/**
 * Other processes may write during the copy, so the copy's row counts must lie between the counts before and after
 * copying.
 */
function requireCompleteCopy(path: string, { atLeast, atMost }: { atLeast: RowCounts; atMost: RowCounts }): void {
  const copy = new Sqlite(path, { readonly: true, fileMustExist: true })
  try {
    requireIntegrity(copy, 'The copy is damaged, and was removed')
    const isComplete = countRows(copy).every((count, i) => count >= (atLeast[i] ?? 0) && count <= (atMost[i] ?? 0))
    if (!isComplete) throw new Error('The copy does not have the rows of the database, and was removed')
  } finally {
    copy.close()
  }
}

type RowCounts = readonly number[]

function countRows(raw: Sqlite.Database): RowCounts {
  return ['payouts', 'transfers', 'deposits', 'payout_events'].map(
    (table) => raw.prepare(`select count(*) from ${table}`).pluck().get() as number,
  )
}
