import type Sqlite from 'better-sqlite3'
import { migrations } from '../../../db/migrations/index.ts'
import type { EngineState, InspectedDatabase } from '../database.ts'
import { findPendingMigrations, findUnknownMigration } from '../migration.ts'
import { checkSchemaSqlite } from './check-schema-sqlite.ts'
import { prepareDatabaseFile } from './database-file.ts'
import { appliedMigrations } from './migrate-sqlite.ts'
import { openConnection } from './sqlite-connection.ts'
import { sqliteReader } from './sqlite-reader.ts'

/**
 * Opens the SQLite file at `path` only to look at it: nothing is changed or left beside it, whoever else has it open.
 *
 * @throws Error when it can't be opened, or is none of ours
 */
export function inspectSqlite(path: string): InspectedDatabase {
  prepareDatabaseFile(path, { mustExist: true, onWarning: () => {} })
  const reading = openConnection(path, { isReadOnly: false, isInspection: true })
  const reader = sqliteReader(reading, { writing: null, requireFiles: () => {} })
  return {
    db: { execute: reader.execute },
    state: readEngineState(reading.raw),
    checkSchema: async () => checkSchemaSqlite(reading.raw),
    close: async () => {
      reader.refresh()
      reading.raw.close()
    },
  }
}

/** How SQLite has the file, by a connection that was opened as ours are. */
function readEngineState(raw: Sqlite.Database): EngineState {
  const journal = String(raw.pragma('journal_mode', { simple: true }))
  const isFull = raw.pragma('synchronous', { simple: true }) === 2
  const applied = appliedMigrations(raw)
  return {
    version: `SQLite ${raw.prepare('select sqlite_version()').pluck().get()}`,
    settings: [
      {
        name: 'journal_mode',
        value: journal,
        advice: journal === 'wal' ? null : 'Something else has changed the file: the next start puts it right.',
      },
      {
        name: 'synchronous',
        value: isFull ? 'FULL' : 'not FULL',
        advice: isFull ? null : 'This build of SQLite does not take it, and no service starts: `npm ci` again.',
      },
    ],
    pendingMigrations: findPendingMigrations(migrations, applied)?.names ?? [],
    unknownMigration: findUnknownMigration(migrations, applied),
    clockSkewMs: null,
  }
}
