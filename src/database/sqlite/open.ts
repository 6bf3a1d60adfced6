import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { migrations } from '../../../db/migrations/index.ts'
import type { Database } from '../database.ts'
import type { SqliteConnection } from './connection.ts'
import { openConnection } from './connection.ts'
import { migrateSqlite } from './migrate.ts'
import { sqliteReader } from './reader.ts'
import { sqliteWriter } from './writer.ts'

/** Opens (and where it is missing, makes) the SQLite file at `path`, migrated to the latest form. */
export function openSqlite(path: string, onFatal: (error: Error) => void): Database {
  mkdirSync(dirname(path), { recursive: true })
  const writing = openConnection(path, { isReadOnly: false })
  migrateSqlite(writing.raw, migrations)
  const reading = openConnection(path, { isReadOnly: true })
  const reader = sqliteReader(reading)
  // A read transaction that began before a commit must not answer whoever that commit answers.
  const writer = sqliteWriter(writing, { onCommit: reader.refresh, onFatal })

  return {
    execute: reader.execute,
    write: writer.write,
    statistics: writer.statistics,
    ping: async () => {
      reading.raw.prepare('select name from migrations limit 1').get()
    },
    backup: async (target) => {
      // A copy can't be made inside the read transaction of a turn that has read.
      reader.refresh()
      backUp(reading, target)
    },
    close: async () => {
      await writer.drain()
      reader.refresh()
      reading.raw.close()
      writing.raw.close()
    },
  }
}

/**
 * Writes a compact copy of one snapshot, under a name of its own until it is whole and on disk.
 *
 * VACUUM INTO reads a snapshot, where SQLite's page-wise backup starts over whenever another process writes.
 */
function backUp({ raw }: SqliteConnection, target: string): void {
  if (existsSync(target)) throw new Error(`${target} exists already: a backup never replaces a file`)
  const partial = `${target}.partial`
  rmSync(partial, { force: true })
  raw.prepare('vacuum into ?').run(partial)
  for (const path of [partial, dirname(resolve(target))]) {
    const file = openSync(path, 'r')
    fsyncSync(file)
    closeSync(file)
    if (path === partial) renameSync(partial, target)
  }
}
