import type { Params } from '../../database/query.ts'
import { insertRow, pickParams, query, queryOne, selectFrom, statement, updateTable } from '../../database/query.ts'

/** What has changed of the documents since a revision, in that order. */
export const documentsChangedAfter = query((p: Params<{ revision: number }>) =>
  selectFrom('trustedDocuments').selectAll().where('revision', '>', p.revision).orderBy('revision'),
)

/** Every document that is trusted now, by id; an operator's view. */
export const allTrustedDocuments = query(() =>
  selectFrom('trustedDocuments').selectAll().where('removedAt', 'is', null).orderBy('id'),
)

/** A document, also one that was removed. */
export const documentById = queryOne((p: Params<{ id: string }>) =>
  selectFrom('trustedDocuments').selectAll().where('id', '=', p.id),
)

/** The latest change of any document. */
export const latestRevision = queryOne(() =>
  selectFrom('trustedDocuments').select('revision').orderBy('revision', 'desc').limit(1),
)

export const insertDocument = insertRow('trustedDocuments')

/** Changes whether a document is trusted, and what it is called. */
export const updateDocument = statement(
  (p: Params<{ id: string; revision: number; name: string | null; addedAt: string; removedAt: string | null }>) =>
    updateTable('trustedDocuments')
      .set(pickParams(p, ['revision', 'name', 'addedAt', 'removedAt']))
      .where('id', '=', p.id),
)
