/** Failures one after another by which a rail is taken to be down. */
const mostFailures = 5

/** How long it is left alone then, and at most after it has failed again and again, in milliseconds. */
const [shortestRestMs, longestRestMs] = [5_000, 5 * 60_000]

/** Keeps calls from a rail that does not answer: one now and then finds out whether it does again. */
export type Breaker = {
  /** How many calls may be begun now, of as many as the rail takes at once. */
  readonly room: (callsAtOnce: number, underWay: number) => number
  readonly fail: () => void
  /** @returns whether it was taken to be down */
  readonly succeed: () => boolean
}

/** @param clock milliseconds of a clock that goes on by itself */
export function createBreaker(clock: () => number): Breaker {
  let failures = 0
  let restMs = 0
  let openUntil = Number.NEGATIVE_INFINITY
  return {
    room: (callsAtOnce, underWay) => {
      if (failures < mostFailures) return callsAtOnce - underWay
      return clock() >= openUntil && underWay === 0 ? 1 : 0
    },
    fail: () => {
      failures++
      if (failures < mostFailures) return
      restMs = Math.min(Math.max(restMs * 2, shortestRestMs), longestRestMs)
      openUntil = clock() + restMs
    },
    succeed: () => {
      const wasOpen = failures >= mostFailures
      failures = 0
      restMs = 0
      return wasOpen
    },
  }
}
