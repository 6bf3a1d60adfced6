import type { DomainError } from '../core/errors.ts'
import { unavailable } from '../core/errors.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { mapMaybe } from '../core/maybe-promise.ts'
import type { DatabaseStatistics, OnCommitted } from './database.ts'
import type { DeferredUpdate, DeferredValues, Tx } from './query.ts'

/**
 * A write must not begin after `writeTimeoutMs`, because the caller has stopped waiting and may retry with the
 * idempotency key.
 */
export const writeTimeoutMs = 10_000

/** Further writes are rejected while `maxQueuedWrites` writes are queued (load shedding). */
export const maxQueuedWrites = 10_000

/**
 * Reads CLOCK_MONOTONIC. All processes of a machine share the monotonic clock, so a deadline is valid in another
 * process. The monotonic clock cannot be changed, and continues while a process is suspended.
 */
export function monotonicNowMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

export function deadlineExceeded(): DomainError {
  return unavailable('This write waited too long and was not stored. Retry with the same idempotency key.')
}

export function writeQueueFull(): DomainError {
  return unavailable('The write queue is full. Retry with the same idempotency key.')
}

export type WriteOperation<Result> = (tx: Tx) => MaybePromise<Result>

export type QueuedWrite = {
  readonly operation: WriteOperation<unknown>
  readonly deadlineMs: number
  readonly onCommitted: OnCommitted | undefined
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

export type Outcome = { readonly result: unknown } | { readonly error: unknown }

export type GroupCommit = {
  /** If a commit callback throws, the batch stays committed, so `onFatal` is called. */
  readonly report: (writes: readonly QueuedWrite[], commitStartedAt: number, notify: () => void) => void
  readonly settle: (write: QueuedWrite, outcome: Outcome) => void
  readonly counts: () => Omit<DatabaseStatistics, 'queued'>
}

export function groupCommit({
  onCommitted,
  onFatal,
}: {
  readonly onCommitted?: OnCommitted | undefined
  readonly onFatal: (error: Error) => void
}): GroupCommit {
  let stored = 0
  let commits = 0
  return {
    report: (writes, commitStartedAt, notify) => {
      commits++
      const committed = { writes: writes.length, seconds: (performance.now() - commitStartedAt) / 1_000 }
      try {
        onCommitted?.(committed)
        for (const write of writes) write.onCommitted?.(committed)
        notify()
      } catch (error) {
        // An error of the callback must not be thrown, because the committed batch would be rolled back or run again.
        setImmediate(onFatal, error as Error)
      }
    },
    settle: ({ resolve, reject }, outcome) => {
      if ('result' in outcome) {
        stored++
        resolve(outcome.result as never)
      } else reject(outcome.error)
    },
    counts: () => ({ writes: stored, commits }),
  }
}

/**
 * Each statement calls `requireRunning` first, so that a statement that was not awaited cannot become part of another
 * write.
 */
export function guardedTx(tx: Tx, requireRunning: () => void): Tx {
  const guarded: Pick<Tx, 'execute' | 'deferred'> = {
    execute: (query, params) => {
      requireRunning()
      return tx.execute(query, params)
    },
    deferred: {
      lock: (name, read) => {
        requireRunning()
        tx.deferred.lock(name, read)
      },
      update: (name, how) => {
        requireRunning()
        return tx.deferred.update(name, how)
      },
    },
  }
  return guarded as Tx
}

export function operationEnded(): Error {
  return new Error('a statement ran after its operation had ended')
}

export type DeferredWrites = DeferredValues & {
  /** Starts an operation. `undo` reverts only the changes since the last `begin`. */
  readonly begin: () => void
  readonly undo: () => void
  readonly isEmpty: () => boolean
  readonly store: (tx: Tx) => Promise<void>
}

type DeferredValue = { readonly value: unknown; readonly store: (tx: Tx, value: never) => MaybePromise<unknown> }

export function deferredWrites(): DeferredWrites {
  const changed = new Map<string, DeferredValue>()
  const locked = new Map<string, MaybePromise<unknown>>()
  let previous: (readonly [string, DeferredValue | undefined])[] = []
  return {
    lock: (name, read) => {
      if (changed.has(name) || locked.has(name)) return
      const value = read()
      locked.set(name, value)
      // Prevents an unhandled rejection.
      if (value instanceof Promise) value.catch(() => {})
    },
    update: <Value>(name: string, { read, next, store }: DeferredUpdate<Value>) =>
      mapMaybe(
        changed.has(name) ? null : locked.has(name) ? (locked.get(name) as MaybePromise<Value>) : read(),
        (first) => {
          // During the read, another operation may have changed the deferred value.
          const before = changed.get(name)
          const value = next((before ? before.value : first) as Value)
          previous.push([name, before])
          changed.set(name, { value, store })
          return value
        },
      ),
    begin: () => {
      if (previous.length > 0) previous = []
    },
    undo: () => {
      for (const [name, before] of previous.reverse()) {
        if (before) changed.set(name, before)
        else changed.delete(name)
      }
      previous = []
    },
    isEmpty: () => changed.size === 0,
    store: async (tx) => {
      for (const { value, store } of changed.values()) await store(tx, value as never)
    },
  }
}
