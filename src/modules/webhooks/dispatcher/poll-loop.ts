/** After how long what could not be read is tried again: reading, which may fail for days, ever more seldom. */
const [pollBackoffMs, maxPollBackoffMs] = [1_000, 60_000]

type PollLoopOptions = {
  /** Looks once; whoever asks meanwhile has it looked once more. */
  readonly pollOnce: () => Promise<void>
  readonly isStopped: () => boolean
  readonly onFault: (error: unknown) => void
}

/**
 * Has it looked until nobody asks for more, one look after the other. One that fails is asked for anew once a pause is over,
 * which grows with the faults that follow one another.
 *
 * @returns asks for a look
 */
export function createPollLoop({ pollOnce: lookNow, isStopped, onFault }: PollLoopOptions): () => void {
  let isLooking = false
  let wantsLook = false
  let faults = 0
  let nextLookAt = 0

  function look(): void {
    wantsLook = true
    if (!isLooking && !isStopped() && performance.now() >= nextLookAt) lookOn().catch(onFault)
  }

  async function lookOn(): Promise<void> {
    isLooking = true
    try {
      while (wantsLook && !isStopped()) {
        wantsLook = false
        await lookNow()
        // Reading may wait for nothing, and there may be a million to read.
        await new Promise((resolve) => setImmediate(resolve))
      }
      faults = 0
    } catch (error) {
      nextLookAt = performance.now() + Math.min(pollBackoffMs * 2 ** faults++, maxPollBackoffMs)
      onFault(error)
    } finally {
      isLooking = false
    }
  }

  return look
}
