import { migrations } from '../../db/migrations/index.ts'
import { databaseEngines } from '../database/engines.ts'

export const { openDatabase, inspectDatabase, restoreDatabase } = databaseEngines(migrations)
