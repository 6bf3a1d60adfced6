import { from, insertRow, queryOne } from '../database/query.ts'

/** What this database is for; one row. */
export const installationRow = queryOne(() => from('installation').selectAll())

export const insertInstallation = insertRow('installation')
