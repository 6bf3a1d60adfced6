import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { firstMigration } from '../../../db/migrations/index.ts'
import { missingDatabaseAdvice } from '../database.ts'
import { createPrivateFile } from '../private-file.ts'

/**
 * Holds that there is a database of ours at `path`, or may be a new one, before anything there is changed.
 *
 * A new one is made readable to its owner only, and SQLite gives its log the same mode. One that is there keeps its mode, which
 * somebody may have wanted: `onWarning` is told.
 *
 * @throws Error where the folder is missing, the file is a database of something else, or missing where it `mustExist`
 */
export function prepareDatabaseFile(
  path: string,
  { mustExist, onWarning }: { mustExist: boolean; onWarning: (message: string) => void },
): void {
  const folder = dirname(path)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`the folder ${folder} does not exist; DATABASE_URL must name a file in one that does`)
  }
  const file = statSync(path, { throwIfNoEntry: false })
  const contents = file === undefined || file.size === 0 ? 'nothing' : identifyContents(path)
  if (contents === 'foreign') throw new Error('it is a database of something else, and was left as it is')
  if (contents === 'nothing' && mustExist) throw new Error(`it does not exist; ${missingDatabaseAdvice}`)
  if (file === undefined) createPrivateFile(path)
  else if ((file.mode & 0o077) !== 0 && process.platform !== 'win32') {
    onWarning(`${path} is open to other users of this machine: chmod 600 it, its -wal, its -shm and its backups.`)
  }
}

/** Whose tables there are. Looked at by a connection that can't write, unless a crash left something to roll back. */
export function identifyContents(path: string): 'nothing' | 'ours' | 'foreign' {
  try {
    return readContents(path, { readonly: true })
  } catch (error) {
    if (!/^SQLITE_READONLY/.test(String((error as { code?: unknown }).code))) throw error
    return readContents(path, {})
  }
}

function readContents(path: string, options: Sqlite.Options): 'nothing' | 'ours' | 'foreign' {
  const database = new Sqlite(path, { ...options, fileMustExist: true, timeout: 5_000 })
  const find = (sql: string, ...values: string[]) =>
    database
      .prepare(sql)
      .pluck()
      .get(...values) !== undefined
  try {
    // What else SQLite itself may have made there says nothing.
    if (!find(`select 1 from sqlite_schema where name not like 'sqlite\\_%' escape '\\'`)) return 'nothing'
    const hasList = find(`select 1 from pragma_table_info('migrations') where name = 'applied_at'`)
    return hasList && find('select 1 from migrations where name = ?', firstMigration) ? 'ours' : 'foreign'
  } finally {
    database.close()
  }
}
