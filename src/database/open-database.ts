import { resolve } from 'node:path'
import type { Database, DatabaseOptions } from './database.ts'
import { openPostgres } from './postgres/open-postgres.ts'
import { openSqlite, openSqliteReader } from './sqlite/open-sqlite.ts'

/**
 * Opens the database at `url` and brings it to the latest form.
 *
 * @throws when the URL names no engine of ours, or the database can't be opened or is of a later version
 */
export async function openDatabase({
  url,
  mustExist = false,
  mustBeDurable = false,
  isReadOnly = false,
  onFatal,
  beforeMigrating = () => {},
  onWarning = () => {},
  onStopped = () => {},
  onCommitted,
}: DatabaseOptions): Promise<Database> {
  if (/^postgres(ql)?:\/\/./.test(url))
    return openPostgres({ url, mustExist, mustBeDurable, beforeMigrating, onWarning, onCommitted })
  const path = sqlitePathOf(url)
  if (path !== null) {
    return isReadOnly
      ? openSqliteReader({ path, onStopped })
      : openSqlite({ path, mustExist, beforeMigrating, onFatal, onStopped, onWarning, onCommitted })
  }
  throw new Error('DATABASE_URL must be sqlite:<path> or postgres://…')
}

/** The absolute path of the file that a URL of SQLite names; `null` for any other. */
export function sqlitePathOf(url: string): string | null {
  const [, scheme, place] = /^([a-z]+):(?:\/\/(?=\/))?(.+)$/.exec(url) ?? []
  return scheme === 'sqlite' && place ? resolve(place) : null
}
