import { readdirSync, renameSync, writeFileSync } from 'node:fs'

// Loaded before the service: on SIGUSR2 it collects garbage and writes down what the process holds.
const place = process.env.HEAP_PROBE as string
const collect = globalThis.gc as () => void

/** Bytes of heap in use, and open files and connections (0 if unknown). */
export type HeldResources = { readonly heapBytes: number; readonly descriptors: number }

process.on('SIGUSR2', () => {
  collect()
  // The second collection frees objects that the first one finalized.
  setImmediate(() => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    const descriptors = process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0
    writeFileSync(
      `${place}.new`,
      JSON.stringify({ heapBytes: heapUsed + external, descriptors } satisfies HeldResources),
    )
    renameSync(`${place}.new`, place)
  })
})
