import { once } from 'node:events'

/**
 * Writes text as it is, no faster than it is taken: what is printed by `print` is held in memory until then, which says `false` when
 * that is enough.
 */
export function writerTo(print: (text: string) => unknown): (text: string) => Promise<void> {
  let fault: Error | null = null
  let isListening = false
  const listen = () => {
    isListening = true
    process.stdout.on('error', (error) => {
      fault = error
    })
  }
  return async (text) => {
    if (!isListening) listen()
    if (fault === null && print(text) === false) await once(process.stdout, 'drain').catch(() => {})
    if (fault !== null)
      throw new Error(`Nobody reads what is written any more, so it is not complete: ${fault.message}`)
  }
}
