import { resolve } from 'node:path'
import type { CopyOptions, CopyResult } from './copy/copy-database.ts'
import { copyDatabase } from './copy/copy-database.ts'
import type { CopySide } from './copy/copy-side.ts'
import type { Database, DatabaseOptions, InspectedDatabase, RestoreOptions, RestoreResult } from './database.ts'
import type { Migration } from './migration.ts'
import { databaseNameOf, parseConnectionUrl } from './postgres/connection-url.ts'
import { inspectPostgres } from './postgres/inspect-postgres.ts'
import { openPostgres } from './postgres/open-postgres.ts'
import { postgresCopySide, requireNewOrOwnPostgres } from './postgres/postgres-copy-side.ts'
import { restorePostgres } from './postgres/restore-postgres.ts'
import { inspectSqlite, openSqlite, openSqliteReader } from './sqlite/open-sqlite.ts'
import { restoreSqlite } from './sqlite/restore-sqlite.ts'
import { sqliteCopySide } from './sqlite/sqlite-copy-side.ts'

export type DatabaseEngines = {
  /**
   * Applies pending migrations.
   *
   * @throws Error when no engine supports the URL, the database cannot be opened, or a later version has migrated it
   */
  readonly openDatabase: (options: DatabaseOptions) => Promise<Database>
  /**
   * Opens a database without changing it, even if migrations are pending.
   *
   * @throws Error when the database cannot be reached or opened, or is not one of this service
   */
  readonly inspectDatabase: (url: string) => Promise<InspectedDatabase>
  /**
   * Replaces the database at `url` with a backup, completely or not at all.
   *
   * @throws Error with advice when a process has the database open; when a database exists and must not be replaced; or
   * when the backup is missing, truncated, damaged, or from another program or a later version
   */
  readonly restoreDatabase: (options: RestoreOptions) => Promise<RestoreResult>
  /**
   * Copies a database to the other engine, and marks the source as moved. Continues an interrupted copy.
   *
   * @throws Error with advice when the target is not empty, or the databases differ
   */
  readonly copyDatabase: (options: CopyOptions) => Promise<CopyResult>
  /** After a complete or incomplete copy, lets services use the source again. */
  readonly releaseDatabase: (url: string) => Promise<void>
}

export function databaseEngines(migrations: readonly Migration[]): DatabaseEngines {
  return {
    openDatabase: async ({ url, isReadOnly = false, ...options }) => {
      if (/^postgres(ql)?:\/\/./.test(url)) return openPostgres(url, migrations, options)
      const path = sqlitePathOf(url)
      if (path === null) throw new Error('DATABASE_URL must be sqlite:<path> or postgres://…')
      return isReadOnly ? openSqliteReader(path, migrations, options) : openSqlite(path, migrations, options)
    },
    inspectDatabase: async (url) => {
      const path = sqlitePathOf(url)
      return path === null ? inspectPostgres(url, migrations) : inspectSqlite(path, migrations)
    },
    restoreDatabase: async (options) => {
      const path = sqlitePathOf(options.url)
      return path === null ? restorePostgres(options) : restoreSqlite(path, migrations, options)
    },
    copyDatabase: async (options) => {
      requireOtherEngine(options)
      await migrateTarget(options, migrations)
      const source = await openCopySide(options.source)
      try {
        const target = await openCopySide(options.target)
        try {
          return await copyDatabase({ source, target }, options)
        } finally {
          await target.close()
        }
      } finally {
        await source.close()
      }
    },
    releaseDatabase: async (url) => {
      const side = await openCopySide(url)
      try {
        if ((await side.readMarker())?.role === 'source') await side.unfence(null)
      } finally {
        await side.close()
      }
    },
  }
}

function requireOtherEngine({ source, target }: CopyOptions): void {
  if ((sqlitePathOf(source) === null) !== (sqlitePathOf(target) === null)) return
  throw new Error(
    'The target must be a database of the other engine. To copy within one engine, use backup and restore.',
  )
}

/** If the target has tables of another program, throws an error without changing the target. */
async function migrateTarget(
  { target: url, mustBeDurable, onProgress }: CopyOptions,
  migrations: readonly Migration[],
): Promise<void> {
  const path = sqlitePathOf(url)
  if (path === null) await requireNewOrOwnPostgres(url)
  const options = { mustBeDurable, onFatal: () => {}, onMigrating: onProgress }
  const db = await (path === null ? openPostgres(url, migrations, options) : openSqlite(path, migrations, options))
  await db.close()
}

function openCopySide(url: string): Promise<CopySide> | CopySide {
  const path = sqlitePathOf(url)
  return path === null ? postgresCopySide(url) : sqliteCopySide(path)
}

export function backupSourceName(url: string): string {
  return sqlitePathOf(url) ?? `${databaseNameOf(url)}.dump`
}

/**
 * Returns the database's name for messages, without the password.
 *
 * @throws Error when no engine supports the URL
 */
export function databaseName(url: string): string {
  const path = sqlitePathOf(url)
  if (path !== null) return `sqlite:${path}`
  return `postgres://${parseConnectionUrl(url)
    .servers.map(({ name }) => name)
    .join(', ')}`
}

export function sqlitePathOf(url: string): string | null {
  const [, scheme, path] = /^([a-z]+):(?:\/\/(?=\/))?(.+)$/.exec(url) ?? []
  return scheme === 'sqlite' && path ? resolve(path) : null
}
