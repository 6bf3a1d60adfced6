import { resolve } from 'node:path'
import type { Database, DatabaseOptions, InspectedDatabase, RestoreOptions, RestoreResult } from './database.ts'
import { databaseNameOf, parseConnectionUrl } from './postgres/connection-url.ts'
import { inspectPostgres } from './postgres/inspect-postgres.ts'
import { openPostgres } from './postgres/open-postgres.ts'
import { restorePostgres } from './postgres/restore-postgres.ts'
import { inspectSqlite } from './sqlite/inspect-sqlite.ts'
import { openSqlite, openSqliteReader } from './sqlite/open-sqlite.ts'
import { restoreSqlite } from './sqlite/restore-sqlite.ts'

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
  onMigrating,
  onWarning = () => {},
  onStopped = () => {},
  onCommitted,
}: DatabaseOptions): Promise<Database> {
  if (/^postgres(ql)?:\/\/./.test(url))
    return openPostgres({
      url,
      mustExist,
      mustBeDurable,
      beforeMigrating,
      onMigrating,
      onFatal,
      onWarning,
      onCommitted,
    })
  const path = sqlitePathOf(url)
  if (path !== null) {
    return isReadOnly
      ? openSqliteReader({ path, onStopped })
      : openSqlite({ path, mustExist, beforeMigrating, onMigrating, onFatal, onStopped, onWarning, onCommitted })
  }
  throw new Error('DATABASE_URL must be sqlite:<path> or postgres://…')
}

/**
 * Opens the database at `url` only to look at it, in whatever form it is.
 *
 * @throws Error when it can't be reached or opened, or is none of ours
 */
export async function inspectDatabase(url: string): Promise<InspectedDatabase> {
  const path = sqlitePathOf(url)
  return path === null ? inspectPostgres(url) : inspectSqlite(path)
}

/**
 * Puts a backup in the place of the database at `url`, all of it or nothing.
 *
 * @throws Error with advice: where a process has the database open, or one is there that may not be replaced; and where the
 *   backup is none, is cut off or damaged, of something else or of a later version
 */
export function restoreDatabase(options: RestoreOptions): Promise<RestoreResult> {
  const path = sqlitePathOf(options.url)
  return path === null ? restorePostgres(options) : restoreSqlite(path, options)
}

/** What backups of the database at `url` are named after: its file, or `<database>.dump` for one of PostgreSQL. */
export function backupSourceName(url: string): string {
  return sqlitePathOf(url) ?? `${databaseNameOf(url)}.dump`
}

/** What people call the database at a URL: without a password. @throws Error when the URL names no engine of ours */
export function databaseName(url: string): string {
  const path = sqlitePathOf(url)
  if (path !== null) return `sqlite:${path}`
  return `postgres://${parseConnectionUrl(url)
    .servers.map(({ name }) => name)
    .join(', ')}`
}

/** The absolute path of the file that a URL of SQLite names; `null` for any other. */
export function sqlitePathOf(url: string): string | null {
  const [, scheme, place] = /^([a-z]+):(?:\/\/(?=\/))?(.+)$/.exec(url) ?? []
  return scheme === 'sqlite' && place ? resolve(place) : null
}
