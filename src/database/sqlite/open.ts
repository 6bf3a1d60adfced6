import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { migrations } from '../../../db/migrations/index.ts'
import type { Database } from '../database.ts'
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
    backup: async (target, onProgress) => {
      await reading.raw.backup(target, {
        progress: ({ totalPages, remainingPages }) => {
          onProgress?.(totalPages - remainingPages, totalPages)
          return 1_000
        },
      })
    },
    close: async () => {
      await writer.drain()
      reader.refresh()
      reading.raw.close()
      writing.raw.close()
    },
  }
}
