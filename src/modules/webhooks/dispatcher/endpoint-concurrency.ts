import type { Service } from '../../../operations/context.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import type { Judgement } from '../transport/retry-schedule.ts'
import { retryAfterMs } from '../transport/retry-schedule.ts'
import type { Sent } from '../transport/send.ts'

/** Attempts at once to one endpoint, and until it was seen to answer. */
const [mostAtOnce, mostAtFirst] = [4, 2]

/** A receiver that takes longer to agree holds a place that others could have, as one that fails does. */
const slowMs = 1_000

/** An endpoint that failed so often on end gets one at a time, with a pause after each. */
const failuresForPause = 20
const pauseMs = 1_000

/** What has too much to do may ask for a rest, in which it gets nothing at all; an event alone waits as long as it says. */
const longestRestMs = 60_000

/** How much an endpoint gets at once, and when it gets nothing, by what came of the attempts before. */
export type Pace = {
  /** Whether another attempt may begin beside so many. */
  readonly hasRoom: (inFlight: number) => boolean
  /** Whether it may take long: the last attempt failed or did so, or none has succeeded yet. */
  readonly isDoubtful: () => boolean
  /** Notes what came of an attempt. */
  readonly note: (verdict: Judgement, sent: Sent) => void
}

/** Sets the pace of an endpoint, which goes on from the failures that are stored; one that is disabled is tried with one attempt. */
export function createPace(endpoint: StoredWebhookEndpoint, { wallClock }: Pick<Service, 'wallClock'>): Pace {
  let { failures } = endpoint
  let hasSucceeded = false
  let isSlow = false
  let tookLong = false
  let restUntil = 0

  function mostNow(): number {
    if (endpoint.status === 'disabled' || isSlow || failures >= failuresForPause) return 1
    return hasSucceeded ? mostAtOnce : mostAtFirst
  }

  function note({ isDelivered, isSlowedDown }: Judgement, { retryAfter, durationMs }: Sent): void {
    tookLong = durationMs >= slowMs
    failures = isDelivered ? 0 : failures + 1
    if (isDelivered) isSlow = false
    hasSucceeded ||= isDelivered
    let restMs = failures >= failuresForPause ? pauseMs : 0
    if (isSlowedDown) {
      isSlow = true
      restMs = Math.max(restMs, Math.min(retryAfterMs(retryAfter, wallClock()), longestRestMs))
    }
    restUntil = performance.now() + restMs
  }

  return {
    hasRoom: (inFlight) => inFlight < mostNow() && performance.now() >= restUntil,
    isDoubtful: () => failures > 0 || !hasSucceeded || tookLong,
    note,
  }
}
