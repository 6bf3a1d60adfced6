import { insertRow, queryOne, selectFrom, statement } from '../../database/query.ts'

export const installationRow = queryOne(() => selectFrom('installation').selectAll())

export const databaseCopyRow = queryOne(() => selectFrom('databaseCopies').selectAll())

/** Serializes operations that read the rows of all merchants before they write. */
export const lockInstallation = statement(() => selectFrom('installation').select('id').where('id', '=', 1).forUpdate())

export const insertInstallation = insertRow('installation')
