import type { GraphQLSchema } from 'graphql'
import { LRUCache } from 'lru-cache'
import { createPlanCache, planAhead } from '../plan/plan-cache.ts'
import type { PreparedDocument, RequestErrors } from './prepare-document.ts'
import { prepareDocument } from './prepare-document.ts'

/** Documents that are remembered, and their characters: one of these takes about a hundred bytes, beside plans (`plans.ts`). */
const maxCachedDocuments = 1_000
const maxCachedCharacters = 500_000

/** Parses and checks documents, each once for as long as it is remembered; one that is faulty every time. */
export function createDocumentCache(schema: GraphQLSchema): (query: string) => PreparedDocument | RequestErrors {
  const documents = new LRUCache<string, PreparedDocument>({
    max: maxCachedDocuments,
    maxSize: maxCachedCharacters,
    sizeCalculation: (_document, query) => query.length,
  })
  const plans = createPlanCache()
  /** The one that was used last: to compare it takes a tenth of the time in which a long one is looked up. */
  let latest: { readonly query: string; readonly document: PreparedDocument } | null = null

  return (query) => {
    if (latest !== null && query === latest.query) return latest.document
    const known = documents.get(query)
    const document = known ?? prepareDocument(schema, query, plans)
    // A refusal is made again as quickly, and would take the place of a document that is of use.
    if ('errors' in document) return document
    if (known === undefined) documents.set(query, document)
    latest = { query, document }
    return document
  }
}

/** Documents that are known by an id, and by their text, for as long as they are not taken away. */
export type TrustedDocumentCache = {
  readonly byId: (id: string) => PinnedDocument | undefined
  readonly byText: (text: string) => PinnedDocument | undefined
  readonly pin: (id: string, text: string) => void
  readonly unpin: (id: string) => void
}

/** A document with its text: prepared when it is first asked for; `planAhead` makes its plans. */
type PinnedDocument = {
  readonly text: string
  readonly document: () => PreparedDocument | RequestErrors
  readonly planAhead: () => void
}

/** Members of all their plans (`plans.ts`): those of 1,000,000 characters come to less, unless fragments are spread over and over. */
const maxPinnedMembers = 200_000

/** Keeps documents apart from those that are remembered, so that whatever else is asked pushes none of them out. */
export function createTrustedDocumentCache(schema: GraphQLSchema): TrustedDocumentCache {
  const byId = new Map<string, PinnedDocument>()
  // Tools of two kinds may call the same text by two ids.
  const byText = new Map<string, { readonly pinned: PinnedDocument; readonly ids: Set<string> }>()
  // How many of the texts are so long: to find a text takes as long as it is, which most others need not.
  const lengths = new Map<number, number>()
  const plans = createPlanCache(maxPinnedMembers)

  function pinText(text: string): PinnedDocument {
    let prepared: PreparedDocument | RequestErrors | null = null
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
    const left = (lengths.get(length) ?? 0) + change
    if (left > 0) lengths.set(length, left)
    else lengths.delete(length)
  }

  return {
    byId: (id) => byId.get(id),
    byText: (text) => (lengths.has(text.length) ? byText.get(text)?.pinned : undefined),
    pin: (id, text) => {
      const known = byText.get(text) ?? { pinned: pinText(text), ids: new Set() }
      if (!byText.has(text)) adjustLengthCount(text.length, 1)
      byText.set(text, known)
      known.ids.add(id)
      byId.set(id, known.pinned)
    },
    unpin: (id) => {
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

function markTrusted(document: PreparedDocument | RequestErrors): PreparedDocument | RequestErrors {
  return 'errors' in document ? document : { ...document, isTrusted: true }
}

/** Texts that callers have sent with their hash, so that they may send the hash alone. */
export type PersistedQueryCache = {
  readonly get: (merchantId: string, hash: string) => string | undefined
  readonly set: (merchantId: string, hash: string, text: string) => void
}

/** Characters of the texts that are kept of one merchant, and of all: each takes up to two bytes. */
const maxCharactersPerMerchant = 500_000
const maxCharacters = 10_000_000

/**
 * Keeps what each merchant used last, up to a share of its own: no merchant can push out what another sent. Where many merchants
 * fill theirs, all texts of the merchant go who asked for none for longest; whose text is gone sends it again.
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
      // A merchant that asks for what is not there has used nothing.
      if (text !== undefined) merchants.get(merchantId)
      return text
    },
    set: (merchantId, hash, text) => {
      const texts =
        merchants.peek(merchantId) ??
        new LRUCache<string, string>({ maxSize: ofMerchant, sizeCalculation: ({ length }) => length })
      texts.set(hash, text)
      // The cache of merchants measures what is new to it only.
      merchants.delete(merchantId)
      merchants.set(merchantId, texts)
    },
  }
}
