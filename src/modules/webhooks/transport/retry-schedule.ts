import type { WallTime } from '../../../core/ids-and-clock.ts'
import { wallTimeAfter } from '../../../core/ids-and-clock.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]

/** The delays before each delivery attempt, counted from the previous attempt. */
export const attemptDelaysMs: readonly number[] = [
  0,
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
]

/** Jitter spreads the retries of deliveries that failed at the same time. */
const jitterFactor = 0.2

const maxRetryAfterMs = 24 * hour

export type NextAttemptInput = {
  readonly attempts: number
  readonly now: WallTime
  readonly retryAfter: string | null
  readonly random: () => number
}

/**
 * Returns `null` after the last delivery attempt. `Retry-After` cannot make the delay shorter, because a receiver could
 * use up all attempts within seconds.
 */
export function nextAttemptAt({ attempts, now, retryAfter, random }: NextAttemptInput): WallTime | null {
  const delay = attemptDelaysMs[attempts]
  if (delay === undefined) return null
  const scheduled = delay * (1 - jitterFactor + 2 * jitterFactor * random())
  return wallTimeAfter(Math.round(Math.max(scheduled, parseRetryAfterMs(retryAfter, now))), now)
}

/** Returns at most a day, and 0 for an invalid header. */
export function parseRetryAfterMs(text: string | null, now: WallTime): number {
  if (text === null) return 0
  const delay = /^\d+$/.test(text) ? Number(text) * second : /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) - now : 0
  return Math.min(Math.max(delay || 0, 0), maxRetryAfterMs)
}

const goneStatus = 410

const overloadStatuses: readonly number[] = [429, 502, 504]

export type AttemptVerdict = {
  readonly isDelivered: boolean
  readonly isGone: boolean
  readonly isOverloaded: boolean
}

export function judgeResponse(code: number | null): AttemptVerdict {
  return {
    isDelivered: code !== null && code >= 200 && code < 300,
    isGone: code === goneStatus,
    isOverloaded: code !== null && overloadStatuses.includes(code),
  }
}
