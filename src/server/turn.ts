/** When answers to what was read are sent. */
export type Turn = {
  /** Resolves when an answer that is ready now may be sent. */
  readonly end: () => Promise<void>
  /** Has what waits be sent now: for whoever is about to take long. */
  readonly sendWaiting: () => void
  /** The same in a turn that takes long because of many requests; each one asks. */
  readonly sendOverdue: () => void
}

/** An answer that has waited for so long, in milliseconds, is sent before the next request is looked at. */
const overdueMs = 2

/**
 * The turns of the event loop. Answers to what was read wait for the end of theirs, so that those of one turn are sent one right
 * after the other.
 *
 * Whoever reads them, often a proxy on the same machine, is woken by the first and still awake for the others; to wake it
 * for each costs this process up to half of what a small answer takes. Answers to what was written do not wait: those of a
 * group are ready together.
 */
export function turns(): Turn {
  let waiting: PromiseWithResolvers<void> | null = null
  let since = 0

  function end(): Promise<void> {
    if (waiting === null) {
      waiting = Promise.withResolvers()
      since = performance.now()
      setImmediate(sendWaiting)
    }
    return waiting.promise
  }

  function sendWaiting(): void {
    waiting?.resolve()
    waiting = null
  }

  function sendOverdue(): void {
    if (waiting !== null && performance.now() - since >= overdueMs) sendWaiting()
  }

  return { end, sendWaiting, sendOverdue }
}
