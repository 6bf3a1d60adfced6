import { createHash } from 'node:crypto'
import type { GraphQLSchema } from 'graphql'
import { Kind } from 'graphql'
import type { TrustedDocumentCache } from './document-caches.ts'
import { createDocumentCache, createPersistedQueryCache } from './document-caches.ts'
import { limits } from './limits.ts'
import type { DocumentResult, PreparedDocument } from './prepare-document.ts'
import type { RequestErrors } from './request-errors.ts'
import { requestError } from './request-errors.ts'

/** A request with both a text and a hash registers a persisted query. */
export type DocumentRequest = {
  readonly query: string | null
  readonly identifier?: DocumentIdentifier | null
}
export type DocumentIdentifier = { readonly kind: 'documentId' | 'sha256Hash'; readonly value: string }

export type FindDocument = (request: DocumentRequest, merchantId: string) => DocumentResult | Promise<DocumentResult>

export type DocumentPolicy = 'any' | 'trusted' | 'trustedOrIntrospection'

/** `refreshIfChanged` and `refresh` return undefined if there is no change to read. */
export type TrustedDocuments = Pick<TrustedDocumentCache, 'byId' | 'byText'> & {
  /** `refreshIfChanged` detects changes without a query. */
  readonly refreshIfChanged: () => Promise<void> | undefined
  /** `refresh` detects changes with a query if necessary. */
  readonly refresh: () => Promise<void> | undefined
}

/**
 * Returns a promise only if it reads trusted documents from the database. With the policy `trusted`, a document that is
 * not trusted is rejected before parsing. Only the policy `any` persists queries.
 */
export function createDocumentResolver(
  schema: GraphQLSchema,
  { policy, trusted }: { policy: DocumentPolicy; trusted: TrustedDocuments },
): FindDocument {
  const cached = createDocumentCache(schema)
  const persisted = createPersistedQueryCache()
  const byText = (text: string) => trusted.byText(text)?.document() ?? cached(text)

  function findByText(text: string): DocumentResult {
    if (policy === 'any') return byText(text)
    const entry = trusted.byText(text)
    if (entry) return entry.document()
    if (policy === 'trusted') return documentNotTrusted
    const document = cached(text)
    return 'errors' in document || isIntrospectionOnly(document) ? document : documentNotTrusted
  }

  function findById(id: string): DocumentResult | undefined {
    // The specification GraphQL over HTTP (appendix A) defines ids with the prefix `sha256:`.
    const entry = trusted.byId(id) ?? (id.startsWith('sha256:') ? trusted.byId(id.slice(7)) : undefined)
    return entry?.document()
  }

  function findByHash(hash: string, text: string | null, merchantId: string): DocumentResult {
    // Apollo Client sends the id of a trusted document as a hash.
    const entry = trusted.byId(hash)
    if (entry && (text === null || text === entry.text)) return entry.document()
    if (policy !== 'any') {
      return (text === null ? undefined : trusted.byText(text))?.document() ?? persistedQueryNotSupported
    }
    if (text !== null) return persist(hash, text, merchantId)
    const known = persisted.get(merchantId, hash)
    return known === undefined ? persistedQueryNotFound : byText(known)
  }

  function persist(hash: string, text: string, merchantId: string): DocumentResult {
    // `byText` rejects a text that exceeds the length limit, so the hash of a longer text is not computed.
    if (text.length <= limits.characters && hash !== sha256(text)) return hashMismatch
    const document = byText(text)
    if (!('errors' in document)) persisted.set(merchantId, hash, text)
    return document
  }

  function find({ query, identifier }: DocumentRequest, merchantId: string): DocumentResult | Promise<DocumentResult> {
    if (!identifier) return findByText(query as string)
    if (identifier.kind === 'sha256Hash') return findByHash(identifier.value, query, merchantId)
    const document = findById(identifier.value)
    if (document) return document
    return trusted.refresh()?.then(() => findById(identifier.value) ?? documentNotFound) ?? documentNotFound
  }

  return (request, merchantId) => {
    if (policy === 'any' && !request.identifier) return byText(request.query as string)
    const refreshing = trusted.refreshIfChanged()
    return refreshing ? refreshing.then(() => find(request, merchantId)) : find(request, merchantId)
  }
}

const documentNotFound: RequestErrors = {
  errors: [requestError('PERSISTED_DOCUMENT_NOT_FOUND', 'There is no trusted document with this id.')],
}
const documentNotTrusted: RequestErrors = {
  errors: [
    requestError(
      'DOCUMENT_NOT_TRUSTED',
      'Only trusted documents can be run: send the documentId of a registered one, or its exact text.',
    ),
  ],
}
// Apollo Client and urql recognize persisted-query errors by their messages.
const persistedQueryNotFound: RequestErrors = {
  errors: [requestError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')],
}
const persistedQueryNotSupported: RequestErrors = {
  errors: [requestError('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported')],
}
const hashMismatch: RequestErrors = {
  errors: [requestError('INVALID_INPUT', 'The sha256Hash is not the hash of the query.')],
}

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
