import type Sqlite from 'better-sqlite3'
import { migrations } from '../../../db/migrations/index.ts'
import type { EngineState, Visit } from '../database.ts'
import { comingMigrations, unknownMigration } from '../migration.ts'
import { checkSchemaSqlite } from './check-schema-sqlite.ts'
import { preparePlace } from './database-file.ts'
import { appliedIn } from './migrate-sqlite.ts'
import { openConnection } from './sqlite-connection.ts'
import { sqliteReader } from './sqlite-reader.ts'

/**
 * Opens the SQLite file at `path` only to look at it: nothing is changed or left beside it, whoever else has it open.
 *
 * @throws Error when it can't be opened, or is none of ours
 */
export function visitSqlite(path: string): Visit {
  preparePlace(path, { mustExist: true, onWarning: () => {} })
  const reading = openConnection(path, { isReadOnly: false, isVisiting: true })
  const reader = sqliteReader(reading, { writing: null, requireFiles: () => {} })
  return {
    db: { execute: reader.execute },
    state: stateOf(reading.raw),
    checkSchema: async () => checkSchemaSqlite(reading.raw),
    close: async () => {
      reader.refresh()
      reading.raw.close()
    },
  }
}

/** How SQLite has the file, by a connection that was opened as ours are. */
function stateOf(raw: Sqlite.Database): EngineState {
  const journal = String(raw.pragma('journal_mode', { simple: true }))
  const isFull = raw.pragma('synchronous', { simple: true }) === 2
  const applied = appliedIn(raw)
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
    coming: comingMigrations(migrations, applied)?.names ?? [],
    unknown: unknownMigration(migrations, applied),
    aheadMs: null,
  }
}
