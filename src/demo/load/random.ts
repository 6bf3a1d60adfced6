/** A repeatable source of randomness (mulberry32): the same seed makes the same data on every machine. */
export type SeededRandom = {
  /** A whole number from `least` to `most`, both included. */
  readonly integer: (least: number, most: number) => number
  readonly pick: <Item>(items: readonly Item[]) => Item
  readonly digits: (count: number) => string
  /** Whether something happens that has this probability. */
  readonly chance: (probability: number) => boolean
}

export function createRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }
  const integer = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    integer,
    pick: (items) => items[integer(0, items.length - 1)] as (typeof items)[number],
    digits: (count) => Array.from({ length: count }, () => integer(0, 9)).join(''),
    chance: (probability) => next() < probability,
  }
}
