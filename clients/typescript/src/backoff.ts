export type Backoff = {
  /** The upper bound of the first delay, which doubles with each attempt. */
  readonly baseDelayMs: number
  readonly maxDelayMs: number
}

/**
 * Returns a random delay between zero and the bound of this attempt (full jitter), so that clients that failed together
 * do not retry together.
 *
 * @param failures the number of failed attempts so far, at least 1
 */
export function backoffMs({ baseDelayMs, maxDelayMs }: Backoff, failures: number, random = Math.random()): number {
  return random * Math.min(maxDelayMs, baseDelayMs * 2 ** Math.min(failures - 1, 30))
}

/**
 * Returns the delay that a response requests: `Retry-After` in seconds or as a date, otherwise the reset time of an
 * exhausted `RateLimit`; `null` if it has neither.
 *
 * Compares a date with the `Date` of the same response, if `Date` is readable, because the clocks may differ.
 */
export function requestedDelayMs(headers: Headers, now = Date.now()): number | null {
  const value = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+$/.test(value)) return Number(value) * 1_000
  const date = Date.parse(value)
  if (!Number.isNaN(date)) return Math.max(0, date - (Date.parse(headers.get('date') ?? '') || now))
  const [, remaining, seconds] = /;r=(\d+);t=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? []
  return remaining === '0' ? Number(seconds) * 1_000 : null
}

/** Waits, or rejects with the signal's reason if the signal aborts first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
