import { readdirSync, renameSync, writeFileSync } from 'node:fs'

// Loaded before the service: at SIGUSR2 it writes down what the process holds, after whatever is garbage is gone.
const place = process.env.HEAP_PROBE as string
const collect = globalThis.gc as () => void

/** What a process holds: bytes of its heap that are in use, and its open files and connections (0 where not known). */
export type HeldResources = { readonly heapBytes: number; readonly descriptors: number }

process.on('SIGUSR2', () => {
  collect()
  // What is finalised by the first collection goes with the second.
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
