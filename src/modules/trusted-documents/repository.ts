import type { Params } from '../../database/query.ts'
import { insertRow, pickParams, query, queryOne, selectFrom, statement, updateTable } from '../../database/query.ts'

export const documentsChangedAfter = query((p: Params<{ revision: number }>) =>
  selectFrom('trustedDocuments').selectAll().where('revision', '>', p.revision).orderBy('revision'),
)

export const allTrustedDocuments = query(() =>
  selectFrom('trustedDocuments').selectAll().where('removedAt', 'is', null).orderBy('id'),
)

/** Also finds trusted documents that were removed. */
export const documentById = queryOne((p: Params<{ id: string }>) =>
  selectFrom('trustedDocuments').selectAll().where('id', '=', p.id),
)

export const latestRevision = queryOne(() =>
  selectFrom('trustedDocuments').select('revision').orderBy('revision', 'desc').limit(1),
)

export const insertDocument = insertRow('trustedDocuments')

export const updateDocument = statement(
  (p: Params<{ id: string; revision: number; name: string | null; addedAt: string; removedAt: string | null }>) =>
    updateTable('trustedDocuments')
      .set(pickParams(p, ['revision', 'name', 'addedAt', 'removedAt']))
      .where('id', '=', p.id),
)
