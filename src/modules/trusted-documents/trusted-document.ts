import type { RowOf } from '../../database/tables.ts'

/**
 * A GraphQL document that is trusted for all merchants until `removedAt`. The document's `id` comes from the client's
 * build tool and is permanently bound to `text`.
 */
export type TrustedDocument = RowOf<'trustedDocuments'>

export type DocumentValidator = (text: string) => readonly string[]

/** Each process caches all trusted documents and their execution plans, in about a hundred bytes per character. */
export const maxTrustedCharacters = 1_000_000
