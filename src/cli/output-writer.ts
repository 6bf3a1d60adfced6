import { once } from 'node:events'

/** What went wrong with standard output, which whoever writes to it hears of at the next text. */
let outputError: Error | null = null
let isWatchingErrors = false

/**
 * Writes text as it is, no faster than it is taken.
 *
 * @param print says `false` when what it was given so far waits in memory to be taken, as a stream does
 */
export function createOutputWriter(print: (text: string) => unknown): (text: string) => Promise<void> {
  return async (text) => {
    watchOutputErrors()
    if (outputError === null && print(text) === false) await once(process.stdout, 'drain').catch(() => {})
    if (outputError !== null) {
      throw new Error(`Nobody reads what is written any more, so it is not complete: ${outputError.message}`)
    }
  }
}

/** Without it a reader that has gone would end this process in the middle, with a stack in the place of a sentence. */
function watchOutputErrors(): void {
  if (isWatchingErrors) return
  isWatchingErrors = true
  process.stdout.on('error', (error) => {
    outputError = error
  })
}
