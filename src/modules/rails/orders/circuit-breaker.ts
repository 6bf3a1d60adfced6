const failureThreshold = 5

/** The time for which the circuit breaker stays open doubles with each further failure. */
const [minOpenMs, maxOpenMs] = [5_000, 5 * 60_000]

export type CircuitBreaker = {
  readonly allowedCalls: (maxConcurrentCalls: number, inFlight: number) => number
  readonly recordFailure: () => void
  /** @returns whether the circuit was open */
  readonly recordSuccess: () => boolean
}

/** @param clock a monotonic clock, in milliseconds */
export function createCircuitBreaker(clock: () => number): CircuitBreaker {
  let failures = 0
  let openMs = 0
  let openUntil = Number.NEGATIVE_INFINITY
  return {
    allowedCalls: (maxConcurrentCalls, inFlight) => {
      if (failures < failureThreshold) return maxConcurrentCalls - inFlight
      return clock() >= openUntil && inFlight === 0 ? 1 : 0
    },
    recordFailure: () => {
      failures++
      if (failures < failureThreshold) return
      openMs = Math.min(Math.max(openMs * 2, minOpenMs), maxOpenMs)
      openUntil = clock() + openMs
    },
    recordSuccess: () => {
      const wasOpen = failures >= failureThreshold
      failures = 0
      openMs = 0
      return wasOpen
    },
  }
}
