import type { Service } from '../../../operations/context.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import type { AttemptVerdict } from '../transport/retry-schedule.ts'
import { parseRetryAfterMs } from '../transport/retry-schedule.ts'
import type { SendResult } from '../transport/send.ts'

const [maxConcurrency, initialConcurrency] = [4, 2]

/** An endpoint is unhealthy if its last delivery attempt took longer than this time. */
const slowResponseMs = 1_000

/** After 20 consecutive failures, the endpoint gets one attempt at a time, with a pause after each attempt. */
const failuresBeforePause = 20
const failurePauseMs = 1_000

/**
 * A `Retry-After` header postpones the failed event's retry for the requested time, but pauses the endpoint for at most
 * a minute.
 */
const maxPauseMs = 60_000

export type ConcurrencyLimiter = {
  readonly hasCapacity: (inFlight: number) => boolean
  /** An endpoint is unhealthy if its last attempt failed or was slow, or if no attempt has succeeded yet. */
  readonly isUnhealthy: () => boolean
  readonly recordResult: (verdict: AttemptVerdict, result: SendResult) => void
}

export function createConcurrencyLimiter(
  endpoint: StoredWebhookEndpoint,
  { wallClock }: Pick<Service, 'wallClock'>,
): ConcurrencyLimiter {
  let { failures } = endpoint
  let hasSucceeded = false
  let isOverloaded = false
  let wasSlow = false
  let pausedUntil = 0

  function currentLimit(): number {
    if (endpoint.status === 'disabled' || isOverloaded || failures >= failuresBeforePause) return 1
    return hasSucceeded ? maxConcurrency : initialConcurrency
  }

  function recordResult(verdict: AttemptVerdict, { retryAfter, durationMs }: SendResult): void {
    const { isDelivered } = verdict
    wasSlow = durationMs >= slowResponseMs
    failures = isDelivered ? 0 : failures + 1
    if (isDelivered) isOverloaded = false
    hasSucceeded ||= isDelivered
    let pauseMs = failures >= failuresBeforePause ? failurePauseMs : 0
    if (verdict.isOverloaded) {
      isOverloaded = true
      pauseMs = Math.max(pauseMs, Math.min(parseRetryAfterMs(retryAfter, wallClock()), maxPauseMs))
    }
    pausedUntil = performance.now() + pauseMs
  }

  return {
    hasCapacity: (inFlight) => inFlight < currentLimit() && performance.now() >= pausedUntil,
    isUnhealthy: () => failures > 0 || !hasSucceeded || wasSlow,
    recordResult,
  }
}
