import { migrations } from '../../db/migrations/index.ts'
import type { Database, DatabaseOptions } from '../database/database.ts'
import { databaseEngines } from '../database/engines.ts'
import { defaultDatabaseUrl } from './config.ts'

const engines = databaseEngines(migrations)

export const { inspectDatabase, restoreDatabase, copyDatabase, releaseDatabase } = engines

/** Creates the folder of the default database, so that the first start needs no preparation. */
export function openDatabase(options: DatabaseOptions): Promise<Database> {
  return engines.openDatabase({ ...options, canCreateFolder: options.url === defaultDatabaseUrl })
}
