import { createHash } from 'node:crypto'
import type { GraphQLSchema } from 'graphql'
import { Kind } from 'graphql'
import { rememberDocuments } from './documents.ts'
import { limits } from './limits.ts'
import { keepPersistedQueries } from './persisted-queries.ts'
import type { Document, Faulty } from './prepare-document.ts'
import { requestError } from './request-errors.ts'
import type { PinnedDocuments } from './trusted-document-cache.ts'

/** How a request says which document it asks for: by its text, by its name, or by both for one that may not be known yet. */
export type DocumentAsked = {
  readonly query: string | null
  /** An id of a trusted document, or what `extensions.persistedQuery` has. */
  readonly name?: DocumentName | null
}
export type DocumentName = { readonly kind: 'documentId' | 'sha256Hash'; readonly value: string }

/** Finds the document that a merchant's request asks for; a promise only where somebody else has to be asked for it. */
export type FindDocument = (asked: DocumentAsked, merchantId: string) => Found | Promise<Found>
type Found = Document | Faulty

/** Whether any document is run, or those only that are trusted; `butSchema` lets looks at the schema itself go on. */
export type Taken = 'any' | 'trusted' | 'trustedButSchema'

/** Documents that are trusted, and what sees that they are all those that are. */
export type TrustedDocuments = Pick<PinnedDocuments, 'byId' | 'byText'> & {
  /** Whether any has changed where that costs nothing to see, and then takes the changes. */
  readonly keepUp: () => Promise<void> | undefined
  /** The same where it has to be asked for. */
  readonly lookAgain: () => Promise<void> | undefined
}

/**
 * Finds documents by their text, by the id of one that is trusted, and by a hash whose text the merchant sent before.
 *
 * Where only trusted ones are taken any other text is refused unread, and no text becomes known.
 */
export function findDocuments(
  schema: GraphQLSchema,
  { taken, trusted }: { taken: Taken; trusted: TrustedDocuments },
): FindDocument {
  const remembered = rememberDocuments(schema)
  const persisted = keepPersistedQueries()
  const byText = (text: string) => trusted.byText(text)?.document() ?? remembered(text)

  function findText(text: string): Found {
    if (taken === 'any') return byText(text)
    const found = trusted.byText(text)
    if (found) return found.document()
    if (taken === 'trusted') return notTrusted
    const other = remembered(text)
    return 'errors' in other || isOfSchema(other) ? other : notTrusted
  }

  function findId(id: string): Found | undefined {
    // The prefix by which GraphQL over HTTP has clients say what kind of id it is (appendix A).
    const pinned = trusted.byId(id) ?? (id.startsWith('sha256:') ? trusted.byId(id.slice(7)) : undefined)
    return pinned?.document()
  }

  function findHash(hash: string, text: string | null, merchantId: string): Found {
    // Apollo's client has the ids of its manifest sent like this.
    const pinned = trusted.byId(hash)
    if (pinned && (text === null || text === pinned.text)) return pinned.document()
    if (taken !== 'any') return (text === null ? undefined : trusted.byText(text))?.document() ?? notSupported
    if (text !== null) return takeText(hash, text, merchantId)
    const known = persisted.find(merchantId, hash)
    return known === undefined ? notKnown : byText(known)
  }

  function takeText(hash: string, text: string, merchantId: string): Found {
    // One that is too long is refused for that, before it is read.
    if (text.length <= limits.characters && hash !== sha256(text)) return mismatch
    const document = byText(text)
    if (!('errors' in document)) persisted.keep(merchantId, hash, text)
    return document
  }

  function find({ query, name }: DocumentAsked, merchantId: string): Found | Promise<Found> {
    if (!name) return findText(query as string)
    if (name.kind === 'sha256Hash') return findHash(name.value, query, merchantId)
    const found = findId(name.value)
    if (found) return found
    return trusted.lookAgain()?.then(() => findId(name.value) ?? unknownId) ?? unknownId
  }

  return (asked, merchantId) => {
    if (taken === 'any' && !asked.name) return byText(asked.query as string)
    const waiting = trusted.keepUp()
    return waiting ? waiting.then(() => find(asked, merchantId)) : find(asked, merchantId)
  }
}

const unknownId: Faulty = {
  errors: [requestError('PERSISTED_DOCUMENT_NOT_FOUND', 'There is no trusted document of this id.')],
}
const notTrusted: Faulty = {
  errors: [
    requestError(
      'DOCUMENT_NOT_TRUSTED',
      'Only trusted documents are run here: send a documentId, or the text that was added under it.',
    ),
  ],
}
// Apollo's and urql's links go by these very words.
const notKnown: Faulty = { errors: [requestError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')] }
const notSupported: Faulty = { errors: [requestError('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported')] }
const mismatch: Faulty = { errors: [requestError('INVALID_INPUT', 'The sha256Hash is not that of the query.')] }

/** Whether a document asks for nothing but the schema itself, as GraphiQL does to explain it. */
function isOfSchema({ operations }: Document): boolean {
  return operations.every(
    ({ node: { operation, selectionSet } }) =>
      operation === 'query' &&
      selectionSet.selections.every(
        ({ kind, ...each }) => kind === Kind.FIELD && 'name' in each && each.name.value.startsWith('__'),
      ),
  )
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
