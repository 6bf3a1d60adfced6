import { resolve } from 'node:path'
import type { Database, DatabaseOptions } from './database.ts'
import { openSqlite } from './sqlite/open.ts'

/**
 * Opens the database at `url` and brings it to the latest form.
 *
 * @throws when the URL names no engine of ours, or the file can't be opened or is of a later version
 */
export async function openDatabase({ url, mustExist = false, onFatal }: DatabaseOptions): Promise<Database> {
  const [, scheme, place] = /^([a-z]+):(?:\/\/(?=\/))?(.+)$/.exec(url) ?? []
  if (scheme === 'sqlite' && place) return openSqlite({ path: resolve(place), mustExist, onFatal })
  throw new Error('DATABASE_URL must be sqlite:<path>')
}
