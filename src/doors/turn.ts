/**
 * The turn of the event loop that runs. Answers to what was read wait for its end, so that those of one turn are sent one right
 * after the other.
 *
 * Whoever reads them, often a proxy on the same machine, is woken by the first and still awake for the others; to wake it
 * for each costs this process up to half of what a small answer takes. Answers to what was written do not wait: those of a
 * group are ready together.
 */
let waiting: PromiseWithResolvers<void> | null = null
let since = 0

/** An answer that has waited for so long, in milliseconds, is sent before the next request is looked at. */
const overdueMs = 2

/** Resolves when an answer that is ready now may be sent. */
export function endOfTurn(): Promise<void> {
  if (waiting === null) {
    waiting = Promise.withResolvers()
    since = performance.now()
    setImmediate(sendWaiting)
  }
  return waiting.promise
}

/** Has what waits be sent now: for whoever is about to take long. */
export function sendWaiting(): void {
  waiting?.resolve()
  waiting = null
}

/** The same in a turn that takes long because of many requests; each one asks. */
export function sendOverdue(): void {
  if (waiting !== null && performance.now() - since >= overdueMs) sendWaiting()
}
