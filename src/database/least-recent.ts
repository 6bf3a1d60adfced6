/** What is kept of many, by key: so much of it at most. */
export type LeastRecent<Key, Value> = {
  /** What is kept under a key, which counts as used by that. */
  readonly get: (key: Key) => Value | undefined
  readonly set: (key: Key, value: Value) => void
}

/**
 * Keeps `most` entries at most: for one more, that goes which was not used for longest.
 *
 * @param onDropped told of each that goes
 */
export function leastRecent<Key, Value>(
  most: number,
  onDropped: (key: Key, value: Value) => void = () => {},
): LeastRecent<Key, Value> {
  // The order of a Map is that of insertion, so the first is the one that was not used for longest.
  const kept = new Map<Key, Value>()
  return {
    get: (key) => {
      const known = kept.get(key)
      if (known === undefined) return undefined
      kept.delete(key)
      kept.set(key, known)
      return known
    },
    set: (key, value) => {
      kept.delete(key)
      kept.set(key, value)
      if (kept.size <= most) return
      const [[oldest, dropped]] = kept as Iterable<[Key, Value]> as [[Key, Value]]
      kept.delete(oldest)
      onDropped(oldest, dropped)
    },
  }
}
