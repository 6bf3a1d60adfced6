import type { RowOf } from '../../database/tables.ts'

/**
 * Trusted for every merchant, until `removedAt`. Its `id` comes from the client's build tool and is bound to this
 * `text` permanently.
 */
export type TrustedDocument = RowOf<'trustedDocuments'>

/** An empty list means that the document can be executed. */
export type DocumentValidator = (text: string) => readonly string[]

/** Each process caches them with their plans, which takes about a hundred bytes per character. */
export const maxTrustedCharacters = 1_000_000
