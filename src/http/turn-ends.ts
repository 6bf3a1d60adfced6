/** Longest time for which an answer that is ready waits for others, in milliseconds. */
const longestWaitMs = 2

/**
 * What an answer to a read waits for before it is sent: the end of the turn of the event loop, so that the answers of one
 * turn are sent one right after the other.
 *
 * Whoever reads them, often a proxy on the same machine, is woken by the first and still awake for the others; to wake it
 * for each costs this process up to half of what a small answer takes. Answers to what was written need not wait, because
 * one commit makes all of them ready at once.
 *
 * @param elapsed milliseconds since any moment
 */
export function turnEnds(elapsed = () => performance.now()): () => Promise<void> {
  let turn: { readonly since: number; readonly ended: Promise<void>; readonly end: () => void } | null = null

  function begin() {
    const { promise, resolve } = Promise.withResolvers<void>()
    setImmediate(end)
    return { since: elapsed(), ended: promise, end: resolve }
  }

  function end(): void {
    turn?.end()
    turn = null
  }

  return () => {
    turn ??= begin()
    const { since, ended } = turn
    if (elapsed() - since >= longestWaitMs) end()
    return ended
  }
}
