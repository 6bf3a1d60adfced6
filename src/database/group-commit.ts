import type { DomainError } from '../core/errors.ts'
import { unavailable } from '../core/errors.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { mapMaybe } from '../core/maybe-promise.ts'
import type { DatabaseStatistics, OnCommitted } from './database.ts'
import type { DeferredUpdate, DeferredValues, Tx } from './query.ts'

/** A write begins within this time or is rejected: its caller has given up by then, and may retry with its idempotency key. */
export const writeTimeoutMs = 10_000

/** Length of the write queue. Further writes are rejected, so that overload is shed. */
export const maxQueuedWrites = 10_000

/**
 * Milliseconds on the machine's monotonic clock (CLOCK_MONOTONIC), which all its processes share: a deadline of one process holds
 * for another. The clock is never set, and runs while a process is suspended.
 */
export function monotonicNowMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

/** The error for a write whose deadline passed before it began. */
export function deadlineExceeded(): DomainError {
  return unavailable('This write waited too long and was not stored. Retry with the same idempotency key.')
}

export function writeQueueFull(): DomainError {
  return unavailable('The write queue is full. Retry with the same idempotency key.')
}

export type WriteOperation<Result> = (tx: Tx) => MaybePromise<Result>

export type QueuedWrite = {
  readonly operation: WriteOperation<unknown>
  /** See `WriteOptions`. */
  readonly deadlineMs: number
  readonly onCommitted: OnCommitted | undefined
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

export type Outcome = { readonly result: unknown } | { readonly error: unknown }

export type GroupCommit = {
  /** Counts a COMMIT and calls its observers, then `notify`. If one of them throws, calls `onFatal`: the batch stays committed. */
  readonly report: (writes: readonly QueuedWrite[], commitStartedAt: number, notify: () => void) => void
  /** Answers a write. */
  readonly settle: (write: QueuedWrite, outcome: Outcome) => void
  readonly counts: () => Omit<DatabaseStatistics, 'queued'>
}

/** The reports and counters that both writers share. */
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
        // Thrown from here it would roll back or rerun a batch that is committed.
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

/** Returns a handle for one operation. It calls `requireRunning` first, so that a statement left running can't join the next write. */
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

/** The error for a statement that runs after its operation has ended: the operation did not await it. */
export function operationEnded(): Error {
  return new Error('a statement ran after its operation had ended')
}

/** The deferred values of a batch, for its writer. */
export type DeferredWrites = DeferredValues & {
  /** Starts an operation: `undo` no longer reverts the changes of the previous one. */
  readonly begin: () => void
  /** Reverts the changes of an operation that failed. */
  readonly undo: () => void
  readonly isEmpty: () => boolean
  /** Stores all values, before COMMIT. */
  readonly store: (tx: Tx) => Promise<void>
}

type DeferredValue = { readonly value: unknown; readonly store: (tx: Tx, value: never) => MaybePromise<unknown> }

export function deferredWrites(): DeferredWrites {
  const changed = new Map<string, DeferredValue>()
  const locked = new Map<string, MaybePromise<unknown>>()
  /** The values before each change of the current operation, the latest last. */
  let previous: (readonly [string, DeferredValue | undefined])[] = []
  return {
    lock: (name, read) => {
      if (changed.has(name) || locked.has(name)) return
      const value = read()
      locked.set(name, value)
      // `update` reports an error. An operation that is rejected before it never needs the value.
      if (value instanceof Promise) value.catch(() => {})
    },
    update: <Value>(name: string, { read, next, store }: DeferredUpdate<Value>) =>
      mapMaybe(
        changed.has(name) ? null : locked.has(name) ? (locked.get(name) as MaybePromise<Value>) : read(),
        (first) => {
          // Another operation may have changed it during the read.
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
