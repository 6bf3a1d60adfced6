import type { WallTime } from '../../../core/ids-and-clock.ts'
import { wallTimeAfter } from '../../../core/ids-and-clock.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]

/** How long after the attempt before it each attempt is due; the first is due at once. */
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

/** How much an attempt may come earlier or later, so that what failed together is not tried together. */
const jitterFactor = 0.2

/** The longest that a receiver may ask to be left alone. */
const maxRetryAfterMs = 24 * hour

/** What came of an attempt, as far as it decides about the next; `now` is when it ended, in milliseconds since 1970. */
export type NextAttemptInput = {
  /** Attempts that were made, this one included. */
  readonly attempts: number
  readonly now: WallTime
  /** The header `Retry-After` of the answer. */
  readonly retryAfter: string | null
  /** From 0 to below 1. */
  readonly random: () => number
}

/**
 * When a delivery is attempted again, in milliseconds since 1970; `null` when all attempts were made.
 *
 * `Retry-After` puts an attempt off and never forward: a receiver that says "in a second" for days would get more than others.
 */
export function nextAttemptAt({ attempts, now, retryAfter, random }: NextAttemptInput): WallTime | null {
  const delay = attemptDelaysMs[attempts]
  if (delay === undefined) return null
  const scheduled = delay * (1 - jitterFactor + 2 * jitterFactor * random())
  return wallTimeAfter(Math.round(Math.max(scheduled, parseRetryAfterMs(retryAfter, now))), now)
}

/** How long a `Retry-After` asks for, seconds or an HTTP date: at most a day, and 0 for what is neither. */
export function parseRetryAfterMs(text: string | null, now: WallTime): number {
  if (text === null) return 0
  const asked = /^\d+$/.test(text) ? Number(text) * second : /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) - now : 0
  return Math.min(Math.max(asked || 0, 0), maxRetryAfterMs)
}

/** The receiver is gone for good. */
const goneStatus = 410

/** The receiver, or what stands before it, has too much to do. */
const overloadStatuses: readonly number[] = [429, 502, 504]

/** What an answer means for the delivery and for its endpoint. */
export type AttemptVerdict = {
  readonly isDelivered: boolean
  /** The endpoint is disabled at once. */
  readonly isGone: boolean
  /** The endpoint gets one at a time. */
  readonly isOverloaded: boolean
}

/** Judges the answer of an attempt: only 2xx is success, and a redirect is none; `null` where no whole answer came. */
export function judgeResponse(answered: number | null): AttemptVerdict {
  return {
    isDelivered: answered !== null && answered >= 200 && answered < 300,
    isGone: answered === goneStatus,
    isOverloaded: answered !== null && overloadStatuses.includes(answered),
  }
}
