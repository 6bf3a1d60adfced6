import { Refusal } from './errors.ts'

/**
 * Lets a request of a merchant pass or refuses it, and sets the headers that tell how much is left (IETF draft).
 *
 * @throws Refusal RATE_LIMITED, or rejects with it where the answer takes time
 */
export type RateLimiter = (merchantId: string, setHeader: SetHeader) => void | Promise<void>

type SetHeader = (name: string, value: string) => void

/** `held` are the tokens that each process took and has, as far as is known here, neither used nor given back. */
type Bucket = { tokens: number; filledAt: number; readonly held: Map<number, number> }

/** The limit of one process alone: each token is used when it is taken. */
export function rateLimiter(perSecond: number, elapsed: () => number): RateLimiter {
  const { bucketOf } = tokenBuckets(perSecond, elapsed)
  return (merchantId, setHeader) => {
    const bucket = bucketOf(merchantId)
    const isOver = bucket.tokens < 1
    if (!isOver) bucket.tokens--
    tell({ perSecond, left: bucket.tokens, isOver }, setHeader)
  }
}

/** What a process gives back of the tokens that it took last, and how many it wants now. */
export type ExchangeRequest = { readonly merchantId: string; readonly unused: number; readonly wanted: number }

/** The tokens that it gets, and what is left for whoever asks next. */
export type Exchanged = { readonly tokens: number; readonly left: number }

/** Asks the process that keeps the buckets. */
export type Exchange = (request: ExchangeRequest) => Promise<Exchanged>

/** Buckets from which several processes take; `forget` counts what a process held as used, because it is gone. */
export type SharedBuckets = {
  readonly exchange: (holder: number, request: ExchangeRequest) => Exchanged
  readonly forget: (holder: number) => void
}

/** What is held and what is in a bucket are together never more than `perSecond`, so the limit holds for all processes. */
export function sharedBuckets(perSecond: number, elapsed: () => number): SharedBuckets {
  const { bucketOf, everyBucket } = tokenBuckets(perSecond, elapsed)
  return {
    exchange: (holder, { merchantId, unused, wanted }) => {
      const bucket = bucketOf(merchantId)
      bucket.held.delete(holder)
      bucket.tokens += unused
      const tokens = Math.min(wanted, Math.floor(bucket.tokens))
      bucket.tokens -= tokens
      if (tokens > 0) bucket.held.set(holder, tokens)
      return { tokens, left: Math.floor(bucket.tokens) }
    },
    forget: (holder) => {
      for (const { held } of everyBucket()) held.delete(holder)
    },
  }
}

/** Unused tokens go back after this time, so that a process that has nothing to do does not keep them from the others. */
const holdForMs = 200

type Held = { tokens: number; left: number; takenAt: number; emptyUntil: number; asking: Promise<void> | null }

/**
 * The limit of one process among several: it takes tokens from the shared buckets, some at a time, so that hardly any
 * request has to wait for another process.
 *
 * @param processes how many share the buckets
 */
export function sharedRateLimiter(
  perSecond: number,
  { exchange, processes }: { exchange: Exchange; processes: number },
  elapsed: () => number,
): RateLimiter {
  const most = Math.max(1, Math.floor(perSecond / (8 * processes)))
  const heldOf = new Map<string, Held>()
  setInterval(giveBack, holdForMs).unref()

  function giveBack(): void {
    const at = elapsed()
    for (const [merchantId, held] of heldOf) {
      if (held.asking !== null || at - held.takenAt < holdForMs) continue
      heldOf.delete(merchantId)
      exchange({ merchantId, unused: held.tokens, wanted: 0 }).catch(() => {})
    }
  }

  function ask(merchantId: string, held: Held): Promise<void> {
    held.asking ??= exchange({ merchantId, unused: 0, wanted: most })
      .then(({ tokens, left }) => {
        held.tokens = tokens
        held.left = left
        held.takenAt = elapsed()
        // Until there can be another token nobody need be asked, however many requests come.
        if (tokens === 0) held.emptyUntil = held.takenAt + Math.min(1_000 / perSecond, 100)
      })
      .finally(() => {
        held.asking = null
      })
    return held.asking
  }

  /** Takes one token, or tells that there is none; `null` when another process must be asked. */
  function use(held: Held): boolean | null {
    if (held.tokens > 0) {
      held.tokens--
      return true
    }
    return elapsed() < held.emptyUntil ? false : null
  }

  async function wait(merchantId: string, held: Held, setHeader: SetHeader): Promise<void> {
    let isUsed: boolean | null = null
    while (isUsed === null) {
      await ask(merchantId, held)
      isUsed = use(held)
    }
    tell({ perSecond, left: held.left + held.tokens, isOver: !isUsed }, setHeader)
  }

  return (merchantId, setHeader) => {
    const held = heldOf.get(merchantId) ?? { tokens: 0, left: 0, takenAt: 0, emptyUntil: 0, asking: null }
    heldOf.set(merchantId, held)
    const isUsed = use(held)
    if (isUsed === null) return wait(merchantId, held, setHeader)
    tell({ perSecond, left: held.left + held.tokens, isOver: !isUsed }, setHeader)
  }
}

/**
 * A bucket of `perSecond` tokens for each merchant, refilled evenly. Those that are full again are forgotten, so memory
 * follows the number of merchants that are active.
 *
 * @param elapsed milliseconds since any moment; not the time of day, which may step back and shut everyone out
 */
function tokenBuckets(perSecond: number, elapsed: () => number) {
  const buckets = new Map<string, Bucket>()
  let sweptAt = elapsed()

  function bucketOf(merchantId: string): Bucket {
    const at = elapsed()
    sweep(at)
    const bucket = buckets.get(merchantId) ?? { tokens: perSecond, filledAt: at, held: new Map() }
    let room = perSecond
    for (const tokens of bucket.held.values()) room -= tokens
    bucket.tokens = Math.min(room, bucket.tokens + ((at - bucket.filledAt) / 1000) * perSecond)
    bucket.filledAt = at
    buckets.set(merchantId, bucket)
    return bucket
  }

  function sweep(at: number): void {
    if (at - sweptAt < 60_000) return
    sweptAt = at
    for (const [merchantId, { filledAt, held }] of buckets) {
      if (at - filledAt > 1_000 && held.size === 0) buckets.delete(merchantId)
    }
  }

  return { bucketOf, everyBucket: () => buckets.values() }
}

/** @throws Refusal RATE_LIMITED for a request that is over the limit */
function tell(
  { perSecond, left, isOver }: { perSecond: number; left: number; isOver: boolean },
  setHeader: SetHeader,
): void {
  setHeader('ratelimit-policy', `"default";q=${perSecond};w=1`)
  setHeader('ratelimit', `"default";r=${Math.floor(left)};t=1`)
  if (!isOver) return
  setHeader('retry-after', '1')
  throw new Refusal('RATE_LIMITED', `At most ${perSecond} requests a second are answered.`)
}
