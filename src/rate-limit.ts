import { Refusal } from './errors.ts'

/**
 * Lets a request of a merchant pass or refuses it, and sets the headers that tell how much is left.
 *
 * @throws Refusal RATE_LIMITED
 */
export type RateLimiter = (merchantId: string, setHeader: (name: string, value: string) => void) => void

type Bucket = { tokens: number; filledAt: number }

/**
 * A token bucket for each merchant: `perSecond` requests at once, refilled evenly.
 *
 * @param elapsed milliseconds since any moment; not the time of day, which may step back and shut everyone out
 *
 * It says `RateLimit` and `RateLimit-Policy` as the IETF draft has them. Buckets that are full again are forgotten, so
 * memory follows the number of merchants that are active.
 */
export function rateLimiter(perSecond: number, elapsed: () => number): RateLimiter {
  const buckets = new Map<string, Bucket>()
  let sweptAt = elapsed()

  function bucketOf(merchantId: string, at: number): Bucket {
    const bucket = buckets.get(merchantId) ?? { tokens: perSecond, filledAt: at }
    bucket.tokens = Math.min(perSecond, bucket.tokens + ((at - bucket.filledAt) / 1000) * perSecond)
    bucket.filledAt = at
    buckets.set(merchantId, bucket)
    return bucket
  }

  function sweep(at: number): void {
    if (at - sweptAt < 60_000) return
    sweptAt = at
    for (const [merchantId, { filledAt }] of buckets) if (at - filledAt > 1_000) buckets.delete(merchantId)
  }

  return (merchantId, setHeader) => {
    const at = elapsed()
    sweep(at)
    const bucket = bucketOf(merchantId, at)
    const isOver = bucket.tokens < 1
    if (!isOver) bucket.tokens--
    const left = Math.floor(bucket.tokens)
    setHeader('ratelimit-policy', `"default";q=${perSecond};w=1`)
    setHeader('ratelimit', `"default";r=${left};t=1`)
    if (!isOver) return
    setHeader('retry-after', '1')
    throw new Refusal('RATE_LIMITED', `At most ${perSecond} requests a second are answered.`)
  }
}
