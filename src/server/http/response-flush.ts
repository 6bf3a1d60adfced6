/** When answers to what was read are sent. */
export type ResponseFlush = {
  /** Calls `send` when an answer that is ready now may be sent; it must not throw, because others wait behind it. */
  readonly schedule: (send: () => void) => void
  /** Has what waits be sent now: for whoever is about to take long. */
  readonly flush: () => void
  /** The same in a turn that takes long because of many requests; each one asks. */
  readonly flushOverdue: () => void
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
export function createResponseFlush(): ResponseFlush {
  let waiting: (() => void)[] = []
  let since = 0

  function schedule(send: () => void): void {
    if (waiting.length === 0) {
      since = performance.now()
      setImmediate(flush)
    }
    waiting.push(send)
  }

  function flush(): void {
    const ready = waiting
    waiting = []
    const faults = []
    for (const send of ready) {
      try {
        send()
      } catch (fault) {
        faults.push(fault)
      }
    }
    // A fault of ours, which is for the process to die of, but not before the others have their answers.
    if (faults.length > 0) throw faults[0]
  }

  function flushOverdue(): void {
    if (waiting.length > 0 && performance.now() - since >= overdueMs) flush()
  }

  return { schedule, flush, flushOverdue }
}
