/** Texts that callers have sent with their hash, so that they may send the hash alone. */
export type PersistedQueries = {
  readonly find: (merchantId: string, hash: string) => string | undefined
  readonly keep: (merchantId: string, hash: string, text: string) => void
}

/** Characters of the texts that are kept of one merchant, and of all: each takes up to two bytes. */
const charactersOfMerchant = 500_000
const charactersOfAll = 10_000_000

type OfMerchant = { readonly texts: Map<string, string>; characters: number }

/**
 * Keeps what each merchant used last, up to a share of its own: no merchant can push out what another sent. Where many merchants
 * fill theirs, all texts of the merchant go who asked for none for longest; whose text is gone sends it again.
 */
export function keepPersistedQueries(
  { ofMerchant, ofAll } = { ofMerchant: charactersOfMerchant, ofAll: charactersOfAll },
): PersistedQueries {
  // The order of a Map is that of insertion, so the first is what was not used for longest.
  const merchants = new Map<string, OfMerchant>()
  let characters = 0

  function latest<Value>(map: Map<string, Value>, key: string, value: Value): void {
    map.delete(key)
    map.set(key, value)
  }

  function drop(kept: OfMerchant, hash: string, text: string): void {
    kept.texts.delete(hash)
    kept.characters -= text.length
    characters -= text.length
  }

  return {
    find: (merchantId, hash) => {
      const kept = merchants.get(merchantId)
      const text = kept?.texts.get(hash)
      if (kept === undefined || text === undefined) return undefined
      latest(merchants, merchantId, kept)
      latest(kept.texts, hash, text)
      return text
    },
    keep: (merchantId, hash, text) => {
      const kept = merchants.get(merchantId) ?? { texts: new Map(), characters: 0 }
      latest(merchants, merchantId, kept)
      if (!kept.texts.has(hash)) {
        kept.characters += text.length
        characters += text.length
      }
      latest(kept.texts, hash, text)
      for (const [oldest, other] of kept.texts) {
        if (kept.characters <= ofMerchant || oldest === hash) break
        drop(kept, oldest, other)
      }
      for (const [oldest, other] of merchants) {
        if (characters <= ofAll || oldest === merchantId) break
        merchants.delete(oldest)
        characters -= other.characters
      }
    },
  }
}
