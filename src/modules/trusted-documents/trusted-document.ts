import type { RowOf } from '../../database/tables.ts'

/**
 * A GraphQL document that this installation trusts, whichever merchant asks; `removedAt` says since when it does no more. Its
 * `id` is whatever the tool that made it calls it by, and means this `text` for good.
 */
export type TrustedDocument = RowOf<'trustedDocuments'>

/** What is wrong with the text of a document, in sentences; none where it can be run. */
export type DocumentValidator = (text: string) => readonly string[]

/**
 * Characters of all trusted documents together: a process keeps them all, with their plans, and each character takes about a
 * hundred bytes.
 */
export const maxTrustedCharacters = 1_000_000
