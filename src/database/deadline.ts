import type { DomainError } from '../core/errors.ts'
import { unavailable } from '../core/errors.ts'

/**
 * What a request changes is begun within this time after it was asked for or not at all, and a process that hands it over
 * answers within it: whoever asked has given up by then, and may ask again. A writer that dies or stops is replaced sooner.
 */
export const writeTimeoutMs = 10_000

/** Operations that wait to be stored; one more is refused, so that overload sheds instead of piling up. */
export const maxQueuedWrites = 10_000

/**
 * Milliseconds on the clock that all processes of a machine share: a deadline of one is the same moment for another. Nobody
 * sets it, and it goes on while a process is stopped.
 */
export function monotonicNowMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

/** The refusal for what waited beyond its deadline; nothing of it was begun. */
export function deadlineExceeded(): DomainError {
  return unavailable('This waited too long and was not stored. Retry with the same idempotency key.')
}

/** The refusal for one more than may wait. */
export function writeQueueFull(): DomainError {
  return unavailable('Too many requests are waiting to be stored.')
}
