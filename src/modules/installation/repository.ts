import { insertRow, queryOne, selectFrom, statement } from '../../database/query.ts'

/** What this database is for; one row. */
export const installationRow = queryOne(() => selectFrom('installation').selectAll())

/** Makes operations wait for each other that look over all merchants before they write. */
export const lockInstallation = statement(() => selectFrom('installation').select('id').where('id', '=', 1).forUpdate())

export const insertInstallation = insertRow('installation')
