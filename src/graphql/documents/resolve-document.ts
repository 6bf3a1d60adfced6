import { createHash } from 'node:crypto'
import type { GraphQLSchema } from 'graphql'
import { Kind } from 'graphql'
import type { TrustedDocumentCache } from './document-caches.ts'
import { createDocumentCache, createPersistedQueryCache } from './document-caches.ts'
import { limits } from './limits.ts'
import type { PreparedDocument, RequestErrors } from './prepare-document.ts'
import { requestError } from './request-errors.ts'

/** How a request says which document it asks for: by its text, by its name, or by both for one that may not be known yet. */
export type DocumentRequest = {
  readonly query: string | null
  /** An id of a trusted document, or what `extensions.persistedQuery` has. */
  readonly identifier?: DocumentIdentifier | null
}
export type DocumentIdentifier = { readonly kind: 'documentId' | 'sha256Hash'; readonly value: string }

/** Finds the document that a merchant's request asks for; a promise only where somebody else has to be asked for it. */
export type FindDocument = (asked: DocumentRequest, merchantId: string) => DocumentResult | Promise<DocumentResult>
type DocumentResult = PreparedDocument | RequestErrors

/** Whether any document is run, or those only that are trusted; `butSchema` lets looks at the schema itself go on. */
export type DocumentPolicy = 'any' | 'trusted' | 'trustedButSchema'

/** Documents that are trusted, and what sees that they are all those that are. */
export type TrustedDocuments = Pick<TrustedDocumentCache, 'byId' | 'byText'> & {
  /** Whether any has changed where that costs nothing to see, and then takes the changes. */
  readonly refreshIfChanged: () => Promise<void> | undefined
  /** The same where it has to be asked for. */
  readonly refresh: () => Promise<void> | undefined
}

/**
 * Finds documents by their text, by the id of one that is trusted, and by a hash whose text the merchant sent before.
 *
 * Where only trusted ones are taken any other text is refused unread, and no text becomes known.
 */
export function createDocumentResolver(
  schema: GraphQLSchema,
  { taken, trusted }: { taken: DocumentPolicy; trusted: TrustedDocuments },
): FindDocument {
  const remembered = createDocumentCache(schema)
  const persisted = createPersistedQueryCache()
  const byText = (text: string) => trusted.byText(text)?.document() ?? remembered(text)

  function findText(text: string): DocumentResult {
    if (taken === 'any') return byText(text)
    const found = trusted.byText(text)
    if (found) return found.document()
    if (taken === 'trusted') return documentNotTrusted
    const other = remembered(text)
    return 'errors' in other || isIntrospectionOnly(other) ? other : documentNotTrusted
  }

  function findId(id: string): DocumentResult | undefined {
    // The prefix by which GraphQL over HTTP has clients say what kind of id it is (appendix A).
    const pinned = trusted.byId(id) ?? (id.startsWith('sha256:') ? trusted.byId(id.slice(7)) : undefined)
    return pinned?.document()
  }

  function findHash(hash: string, text: string | null, merchantId: string): DocumentResult {
    // Apollo's client has the ids of its manifest sent like this.
    const pinned = trusted.byId(hash)
    if (pinned && (text === null || text === pinned.text)) return pinned.document()
    if (taken !== 'any')
      return (text === null ? undefined : trusted.byText(text))?.document() ?? persistedQueryNotSupported
    if (text !== null) return registerText(hash, text, merchantId)
    const known = persisted.get(merchantId, hash)
    return known === undefined ? persistedQueryNotFound : byText(known)
  }

  function registerText(hash: string, text: string, merchantId: string): DocumentResult {
    // One that is too long is refused for that, before it is read.
    if (text.length <= limits.characters && hash !== sha256(text)) return hashMismatch
    const document = byText(text)
    if (!('errors' in document)) persisted.set(merchantId, hash, text)
    return document
  }

  function find(
    { query, identifier: name }: DocumentRequest,
    merchantId: string,
  ): DocumentResult | Promise<DocumentResult> {
    if (!name) return findText(query as string)
    if (name.kind === 'sha256Hash') return findHash(name.value, query, merchantId)
    const found = findId(name.value)
    if (found) return found
    return trusted.refresh()?.then(() => findId(name.value) ?? documentNotFound) ?? documentNotFound
  }

  return (asked, merchantId) => {
    if (taken === 'any' && !asked.identifier) return byText(asked.query as string)
    const waiting = trusted.refreshIfChanged()
    return waiting ? waiting.then(() => find(asked, merchantId)) : find(asked, merchantId)
  }
}

const documentNotFound: RequestErrors = {
  errors: [requestError('PERSISTED_DOCUMENT_NOT_FOUND', 'There is no trusted document of this id.')],
}
const documentNotTrusted: RequestErrors = {
  errors: [
    requestError(
      'DOCUMENT_NOT_TRUSTED',
      'Only trusted documents are run here: send a documentId, or the text that was added under it.',
    ),
  ],
}
// Apollo's and urql's links go by these very words.
const persistedQueryNotFound: RequestErrors = {
  errors: [requestError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')],
}
const persistedQueryNotSupported: RequestErrors = {
  errors: [requestError('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported')],
}
const hashMismatch: RequestErrors = {
  errors: [requestError('INVALID_INPUT', 'The sha256Hash is not that of the query.')],
}

/** Whether a document asks for nothing but the schema itself, as GraphiQL does to explain it. */
function isIntrospectionOnly({ operations }: PreparedDocument): boolean {
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
