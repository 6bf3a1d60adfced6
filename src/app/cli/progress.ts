import type { WriteStream } from 'node:tty'

/**
 * Shows how far a long command is, on one line that moves, and only on a terminal: a log wants no progress.
 *
 * @returns what to call with what is done, how much of it, and how much there is
 */
export function progressOn(stream: WriteStream): (noun: string, done: number, total: number) => void {
  if (!stream.isTTY) return () => {}
  let shownAt = 0
  return (noun, done, total) => {
    const isDone = done === total
    if (!isDone && Date.now() - shownAt < 100) return
    shownAt = Date.now()
    const share = total === 0 ? 100 : Math.floor((done / total) * 100)
    stream.write(`\r\u001b[K${noun}: ${done} of ${total} (${share} %)${isDone ? '\n' : ''}`)
  }
}
