import type { GraphQLSchema } from 'graphql'
import { LRUCache } from 'lru-cache'
import { createPlanCache, planAhead } from '../plan/plan-cache.ts'
import type { DocumentResult, PreparedDocument } from './prepare-document.ts'
import { prepareDocument } from './prepare-document.ts'

/** A cached document uses about 100 bytes per character, plus the memory of its plans. */
const maxCachedDocuments = 1_000
const maxCachedCharacters = 500_000

export function createDocumentCache(schema: GraphQLSchema): (query: string) => DocumentResult {
  const documents = new LRUCache<string, PreparedDocument>({
    max: maxCachedDocuments,
    maxSize: maxCachedCharacters,
    sizeCalculation: (_document, query) => query.length,
  })
  const plans = createPlanCache()
  // Comparing two long queries is ten times as fast as looking up a long query in a map.
  let latest: { readonly query: string; readonly document: PreparedDocument } | null = null

  return (query) => {
    if (latest !== null && query === latest.query) return latest.document
    const known = documents.get(query)
    const document = known ?? prepareDocument(schema, query, plans)
    // Invalid documents are not cached, because invalid documents would evict valid documents.
    if ('errors' in document) return document
    if (known === undefined) documents.set(query, document)
    latest = { query, document }
    return document
  }
}

export type TrustedDocumentCache = {
  readonly byId: (id: string) => TrustedDocumentEntry | undefined
  readonly byText: (text: string) => TrustedDocumentEntry | undefined
  readonly add: (id: string, text: string) => void
  readonly remove: (id: string) => void
}

type TrustedDocumentEntry = {
  readonly text: string
  readonly document: () => DocumentResult
  readonly planAhead: () => void
}

/**
 * The maximum size of the plans of all trusted documents, in members of JSON objects (`plan-cache.ts`). The limit is
 * enough for documents of 1,000,000 characters, unless the documents spread fragments many times.
 */
const maxTrustedMembers = 200_000

export function createTrustedDocumentCache(schema: GraphQLSchema): TrustedDocumentCache {
  const byId = new Map<string, TrustedDocumentEntry>()
  // Different tools can register the same text with different ids.
  const byText = new Map<string, { readonly entry: TrustedDocumentEntry; readonly ids: Set<string> }>()
  // Counts the trusted texts by length. Hashing a long query is slow, and most queries have another length than all
  // trusted texts.
  const lengths = new Map<number, number>()
  const plans = createPlanCache(maxTrustedMembers)

  function createEntry(text: string): TrustedDocumentEntry {
    let prepared: DocumentResult | null = null
    const document = () => {
      prepared ??= markTrusted(prepareDocument(schema, text, plans))
      return prepared
    }
    const planDocument = () => {
      const known = document()
      if ('errors' in known) return
      for (const { node, planFor } of known.operations) planAhead(node, planFor, known.fragments)
    }
    return { text, document, planAhead: planDocument }
  }

  function adjustLengthCount(length: number, change: 1 | -1): void {
    const count = (lengths.get(length) ?? 0) + change
    if (count > 0) lengths.set(length, count)
    else lengths.delete(length)
  }

  return {
    byId: (id) => byId.get(id),
    byText: (text) => (lengths.has(text.length) ? byText.get(text)?.entry : undefined),
    add: (id, text) => {
      const known = byText.get(text) ?? { entry: createEntry(text), ids: new Set() }
      if (!byText.has(text)) adjustLengthCount(text.length, 1)
      byText.set(text, known)
      known.ids.add(id)
      byId.set(id, known.entry)
    },
    remove: (id) => {
      const text = byId.get(id)?.text
      if (text === undefined) return
      byId.delete(id)
      const known = byText.get(text)
      known?.ids.delete(id)
      if (known?.ids.size !== 0) return
      byText.delete(text)
      adjustLengthCount(text.length, -1)
    },
  }
}

function markTrusted(document: DocumentResult): DocumentResult {
  return 'errors' in document ? document : { ...document, isTrusted: true }
}

export type PersistedQueryCache = {
  readonly get: (merchantId: string, hash: string) => string | undefined
  readonly set: (merchantId: string, hash: string, text: string) => void
}

/** These limits are in characters. A character uses up to two bytes. */
const maxCharactersPerMerchant = 500_000
const maxCharacters = 10_000_000

/**
 * Each merchant has its own cache, so that no merchant evicts another merchant's texts. Above the total limit, the
 * least recently used cache is evicted. If a client's text was evicted, the client sends the text again.
 */
export function createPersistedQueryCache(
  { ofMerchant, ofAll } = { ofMerchant: maxCharactersPerMerchant, ofAll: maxCharacters },
): PersistedQueryCache {
  const merchants = new LRUCache<string, LRUCache<string, string>>({
    maxSize: ofAll,
    sizeCalculation: (texts) => texts.calculatedSize,
  })
  return {
    get: (merchantId, hash) => {
      const text = merchants.peek(merchantId)?.get(hash)
      // A lookup without a result does not count as a use of the merchant's cache.
      if (text !== undefined) merchants.get(merchantId)
      return text
    },
    set: (merchantId, hash, text) => {
      const texts =
        merchants.peek(merchantId) ??
        new LRUCache<string, string>({ maxSize: ofMerchant, sizeCalculation: ({ length }) => length })
      texts.set(hash, text)
      // lru-cache computes the size of an entry only when the entry is added.
      merchants.delete(merchantId)
      merchants.set(merchantId, texts)
    },
  }
}
