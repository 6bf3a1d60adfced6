import { LRUCache } from 'lru-cache'

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
