import type { PoolOptions, PoolWorker, WorkerRequest } from 'vitest/node'
import { ThreadsPoolWorker } from 'vitest/node'

/** Maximum runs per thread, so that state left by a mutant does not last. */
const maxRuns = 50

type Listener = Parameters<PoolWorker['on']>[1]

let current: { readonly worker: ThreadsPoolWorker; runs: number } | null = null

/** Keeps one thread for many mutants: starting it and loading packages takes longer than most tests. */
export function createPersistentWorker(options: PoolOptions): PoolWorker {
  if (current && current.runs >= maxRuns) {
    void current.worker.stop()
    current = null
  }
  current ??= { worker: new ThreadsPoolWorker(options), runs: 0 }
  current.runs++
  return new PersistentWorker(current.worker)
}

class PersistentWorker implements PoolWorker {
  readonly name = 'threads'
  readonly #worker: ThreadsPoolWorker
  readonly #listeners = new Map<string, Set<Listener>>()

  constructor(worker: ThreadsPoolWorker) {
    this.#worker = worker
  }

  start(): Promise<void> {
    return this.#worker.start()
  }

  on(event: string, listener: Listener): void {
    const listeners = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, listeners.add(listener))
    this.#worker.on(event, listener)
  }

  off(event: string, listener: Listener): void {
    this.#listeners.get(event)?.delete(listener)
    this.#worker.off(event, listener)
  }

  send(message: WorkerRequest): void {
    if (message.type !== 'stop') {
      this.#worker.send(message)
      return
    }
    for (const listener of this.#listeners.get('message') ?? []) {
      listener({ __vitest_worker_response__: true, type: 'stopped' })
    }
  }

  async stop(): Promise<void> {
    for (const [event, listeners] of this.#listeners)
      for (const listener of listeners) this.#worker.off(event, listener)
    this.#listeners.clear()
  }

  deserialize(data: unknown): unknown {
    return data
  }
}
