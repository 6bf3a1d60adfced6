/** Failures one after another by which a rail is taken to be down. */
const failureThreshold = 5

/** How long it is left alone then, and at most after it has failed again and again, in milliseconds. */
const [minOpenMs, maxOpenMs] = [5_000, 5 * 60_000]

/** Keeps calls from a rail that does not answer: one now and then finds out whether it does again. */
export type CircuitBreaker = {
  /** How many calls may be begun now, of as many as the rail takes at once. */
  readonly allowedCalls: (callsAtOnce: number, underWay: number) => number
  readonly recordFailure: () => void
  /** @returns whether it was taken to be down */
  readonly recordSuccess: () => boolean
}

/** @param clock milliseconds of a clock that goes on by itself */
export function createCircuitBreaker(clock: () => number): CircuitBreaker {
  let failures = 0
  let restMs = 0
  let openUntil = Number.NEGATIVE_INFINITY
  return {
    allowedCalls: (callsAtOnce, underWay) => {
      if (failures < failureThreshold) return callsAtOnce - underWay
      return clock() >= openUntil && underWay === 0 ? 1 : 0
    },
    recordFailure: () => {
      failures++
      if (failures < failureThreshold) return
      restMs = Math.min(Math.max(restMs * 2, minOpenMs), maxOpenMs)
      openUntil = clock() + restMs
    },
    recordSuccess: () => {
      const wasOpen = failures >= failureThreshold
      failures = 0
      restMs = 0
      return wasOpen
    },
  }
}
