import type { RowOf } from '../../database/tables.ts'

/**
 * A GraphQL document that is trusted for all merchants until `removedAt`. `id` comes from the client's build tool and
 * is permanently bound to `text`.
 */
export type TrustedDocument = RowOf<'trustedDocuments'>

/** Returns the errors of a document. A document without errors can be executed. */
export type DocumentValidator = (text: string) => readonly string[]

/**
 * Limits the memory, because each process caches all documents with their plans, which needs about a hundred bytes per
 * character.
 */
export const maxTrustedCharacters = 1_000_000
