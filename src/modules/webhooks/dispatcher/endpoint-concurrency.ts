import type { Service } from '../../../operations/context.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import type { AttemptVerdict } from '../transport/retry-schedule.ts'
import { parseRetryAfterMs } from '../transport/retry-schedule.ts'
import type { SendResult } from '../transport/send.ts'

/** Attempts at once to one endpoint, and until it was seen to answer. */
const [maxConcurrency, initialConcurrency] = [4, 2]

/** A receiver that takes longer to agree holds a place that others could have, as one that fails does. */
const slowResponseMs = 1_000

/** An endpoint that failed so often on end gets one at a time, with a pause after each. */
const failuresBeforePause = 20
const failurePauseMs = 1_000

/** What has too much to do may ask for a rest, in which it gets nothing at all; an event alone waits as long as it says. */
const maxPauseMs = 60_000

/** How much an endpoint gets at once, and when it gets nothing, by what came of the attempts before. */
export type ConcurrencyLimiter = {
  /** Whether another attempt may begin beside so many. */
  readonly hasCapacity: (inFlight: number) => boolean
  /** Whether it may take long: the last attempt failed or did so, or none has succeeded yet. */
  readonly isUnhealthy: () => boolean
  /** Notes what came of an attempt. */
  readonly recordResult: (verdict: AttemptVerdict, sent: SendResult) => void
}

/** Sets the pace of an endpoint, which goes on from the failures that are stored; one that is disabled is tried with one attempt. */
export function createConcurrencyLimiter(
  endpoint: StoredWebhookEndpoint,
  { wallClock }: Pick<Service, 'wallClock'>,
): ConcurrencyLimiter {
  let { failures } = endpoint
  let hasSucceeded = false
  let isSlow = false
  let tookLong = false
  let restUntil = 0

  function currentLimit(): number {
    if (endpoint.status === 'disabled' || isSlow || failures >= failuresBeforePause) return 1
    return hasSucceeded ? maxConcurrency : initialConcurrency
  }

  function recordResult(
    { isDelivered, isOverloaded: isSlowedDown }: AttemptVerdict,
    { retryAfter, durationMs }: SendResult,
  ): void {
    tookLong = durationMs >= slowResponseMs
    failures = isDelivered ? 0 : failures + 1
    if (isDelivered) isSlow = false
    hasSucceeded ||= isDelivered
    let restMs = failures >= failuresBeforePause ? failurePauseMs : 0
    if (isSlowedDown) {
      isSlow = true
      restMs = Math.max(restMs, Math.min(parseRetryAfterMs(retryAfter, wallClock()), maxPauseMs))
    }
    restUntil = performance.now() + restMs
  }

  return {
    hasCapacity: (inFlight) => inFlight < currentLimit() && performance.now() >= restUntil,
    isUnhealthy: () => failures > 0 || !hasSucceeded || tookLong,
    recordResult,
  }
}
