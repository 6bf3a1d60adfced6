import type { RowOf } from '../../database/tables.ts'

/**
 * The GraphQL document is trusted for all merchants until `removedAt`. The client's build tool generates `id`. The
 * `text` of an `id` never changes.
 */
export type TrustedDocument = RowOf<'trustedDocuments'>

export type DocumentValidator = (text: string) => readonly string[]

/**
 * Each process caches all trusted documents and their execution plans. The cache needs about a hundred bytes per
 * character of a document.
 */
export const maxTrustedCharacters = 1_000_000
