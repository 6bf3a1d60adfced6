import type { MaybePromise } from '../core/maybe-promise.ts'
import { mapMaybe } from '../core/maybe-promise.ts'
import type { DeferredUpdate, DeferredValues, Tx } from './query.ts'

/** What operations change in memory, as an engine sees it: what to do when an operation begins or fails, and before COMMIT. */
export type DeferredWrites = DeferredValues & {
  /** An operation begins: what the one before it has left stays. */
  readonly begin: () => void
  /** The operation failed: what it has left goes. */
  readonly undo: () => void
  readonly isEmpty: () => boolean
  readonly store: (tx: Tx) => Promise<void>
}

type DeferredValue = { readonly value: unknown; readonly store: (tx: Tx, value: never) => MaybePromise<unknown> }

export function deferredWrites(): DeferredWrites {
  const left = new Map<string, DeferredValue>()
  const held = new Map<string, MaybePromise<unknown>>()
  /** What was there before the operation, the latest change last. */
  let before: (readonly [string, DeferredValue | undefined])[] = []
  return {
    lock: (name, read) => {
      if (left.has(name) || held.has(name)) return
      const value = read()
      held.set(name, value)
      // Whoever changes it is told, and who is refused before that has no need of it.
      if (value instanceof Promise) value.catch(() => {})
    },
    update: <Value>(name: string, { read, next, store }: DeferredUpdate<Value>) =>
      mapMaybe(left.has(name) ? null : held.has(name) ? (held.get(name) as MaybePromise<Value>) : read(), (first) => {
        // While it was read, another may have changed it.
        const earlier = left.get(name)
        const value = next((earlier ? earlier.value : first) as Value)
        before.push([name, earlier])
        left.set(name, { value, store })
        return value
      }),
    begin: () => {
      if (before.length > 0) before = []
    },
    undo: () => {
      for (const [name, earlier] of before.reverse()) {
        if (earlier) left.set(name, earlier)
        else left.delete(name)
      }
      before = []
    },
    isEmpty: () => left.size === 0,
    store: async (tx) => {
      for (const { value, store } of left.values()) await store(tx, value as never)
    },
  }
}
