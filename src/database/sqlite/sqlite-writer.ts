import { unavailable, unknownOutcome } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { DatabaseStatistics, OnCommitted, WriteOptions } from '../database.ts'
import { deadlineExceeded, maxQueuedWrites, monotonicNowMs, writeQueueFull, writeTimeoutMs } from '../deadline.ts'
import type { DeferredWrites } from '../deferred-writes.ts'
import { deferredWrites } from '../deferred-writes.ts'
import type { Query, Tx } from '../query.ts'
import { returnsRows } from '../query.ts'
import { sharedQueryCache } from '../shared-query-cache.ts'
import type { ChangedTable, SqliteConnection } from './sqlite-connection.ts'

/** Operations that share one commit at most, so that those behind them do not wait for all that a burst brought. */
export const maxBatchSize = 256

/**
 * A turn of the event loop may last this long, or as long as storing the last group took, before what waits is stored
 * within it: a flood of requests makes turns of seconds, and may have no more than half of the time.
 */
const minOverdueMs = 50

/** A group waits this long for another process that holds the write lock: 500 times 10 ms. */
const maxLockRetries = 500
const lockRetryDelayMs = 10

/** The write side: one transaction after another, each shared by the operations that had arrived. */
export type SqliteWriter = {
  readonly write: <Result>(operation: (tx: Tx) => MaybePromise<Result>, options?: WriteOptions) => Promise<Result>
  /** @throws Refusal UNAVAILABLE when the queue is full */
  readonly requireQueueSpace: () => void
  /** See `Database`. */
  readonly onBeforeBatch: (call: () => void) => void
  readonly statistics: () => DatabaseStatistics
  readonly drain: () => Promise<void>
}

type UntypedWriteOperation = (tx: Tx) => MaybePromise<unknown>

type QueuedWrite = {
  readonly operation: UntypedWriteOperation
  /** See `WriteOptions`: a process that was stopped begins nothing for callers that have given up meanwhile. */
  readonly deadlineMs: number
  readonly onCommitted: OnCommitted | undefined
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  outcome: { readonly result: unknown } | { readonly error: unknown } | null
}

type WriteBatch = {
  readonly writes: readonly QueuedWrite[]
  /** Members that made an earlier run of this group roll back; they are answered with the rest. */
  readonly excluded: readonly QueuedWrite[]
  /** What its members have changed. */
  readonly changedTables: Set<ChangedTable>
  /** What they have left to be written before COMMIT. */
  readonly deferred: DeferredWrites
  current: QueuedWrite | null
  hasCurrentWritten: boolean
  isOver: boolean
  readonly startedAt: number
  /** What went wrong below the operations, even where one of them caught it; the whole group is refused with it. */
  failure: unknown
}

/**
 * Commits operations in groups: those that arrive while one group commits form the next, each runs to its end in turn,
 * one COMMIT and one sync serve all, and only then is anyone answered, refusals included, because a refusal may rest on
 * what an earlier member wrote.
 *
 * A member that throws before it has written leaves nothing behind. One that throws after it has written makes the
 * group roll back and run again without it: operations check before they write, so this is rare, and it spares every
 * other operation a savepoint. It too is answered after the commit.
 *
 * @param requireEpoch throws when another process writes in place of this one; asked within each transaction, before its
 *   members run
 * @param requireFile throws when what is written could never be read again; asked before each group, and after its commit
 *   before anyone is answered
 * @param onCommit called after each commit, before anyone is answered, with what it changed
 * @param onCommitted told of each commit that stands, where somebody measures them; those who wait are told of theirs
 * @param onFatal called when a commit failed in a way that leaves its outcome unknown
 */
export function sqliteWriter(
  connection: SqliteConnection,
  {
    requireDatabaseFile: requireFile,
    requireWriterEpoch: requireEpoch,
    onCommit,
    onCommitted,
    onFatal,
  }: {
    requireDatabaseFile: () => void
    requireWriterEpoch: () => void
    onCommit: (changed: ReadonlySet<ChangedTable>) => void
    onCommitted?: OnCommitted | undefined
    onFatal: (error: Error) => void
  },
): SqliteWriter {
  const { raw } = connection
  // SQLite would wait for a lock without letting the event loop run, and reads with it: `run` waits instead.
  raw.pragma('busy_timeout = 0')
  const begin = raw.prepare('begin immediate')
  const commit = raw.prepare('commit')
  const rollback = raw.prepare('rollback')
  // It grows with the commits of other processes.
  const dataVersion = raw.prepare('pragma data_version').pluck()
  const shared = sharedQueryCache<unknown[]>()
  let sharedOf: unknown = null
  let queue: QueuedWrite[] = []
  let isBusy = false
  /** Whether the last group was one operation, and nobody came in the turn that it was stored in: then nobody waits for others. */
  let isQuiet = false
  let lastSize = 0
  let quiet: NodeJS.Immediate | undefined
  let next: NodeJS.Immediate | null = null
  let nextDueAt = 0
  let lastGroupMs = 0
  let writes = 0
  let commits = 0
  let beforeGroup = () => {}
  const drained: (() => void)[] = []

  function write<Result>(
    operation: (tx: Tx) => MaybePromise<Result>,
    { deadlineMs: beginBy = monotonicNowMs() + writeTimeoutMs, onCommitted }: WriteOptions = {},
  ): Promise<Result> {
    return new Promise<Result>((answer, reject) => {
      // What it throws rejects the promise.
      requireQueueSpace()
      const resolve = answer as (result: unknown) => void
      queue.push({ operation, deadlineMs: beginBy, onCommitted, resolve, reject, outcome: null })
      if (!isBusy) startNextBatch()
    })
  }

  function requireQueueSpace(): void {
    if (next !== null && performance.now() >= nextDueAt) runNextBatch()
    if (queue.length >= maxQueuedWrites) throw writeQueueFull()
  }

  function startNextBatch(): void {
    if (queue.length === 0) {
      isBusy = false
      // Whoever came meanwhile is heard of before that.
      if (lastSize === 1)
        quiet = setImmediate(() => {
          isQuiet = true
        })
      for (const resolve of drained.splice(0)) resolve()
      return
    }
    clearImmediate(quiet)
    const waitsForOthers = !isQuiet
    isQuiet = false
    isBusy = true
    if (!waitsForOthers) {
      runNextBatch()
      return
    }
    // The turn's other requests arrive before the immediate, and so share this commit.
    next = setImmediate(runNextBatch)
    nextDueAt = performance.now() + Math.max(minOverdueMs, lastGroupMs)
  }

  function runNextBatch(): void {
    clearImmediate(next ?? undefined)
    next = null
    beforeGroup()
    const members = queue.slice(0, maxBatchSize)
    queue = queue.slice(maxBatchSize)
    lastSize = members.length
    runBatch(members)
  }

  function runBatch(members: readonly QueuedWrite[], abandoned: readonly QueuedWrite[] = [], lockRetry = 0): void {
    const group: WriteBatch = {
      writes: members,
      excluded: abandoned,
      changedTables: new Set(),
      deferred: deferredWrites(),
      current: null,
      hasCurrentWritten: false,
      isOver: false,
      startedAt: performance.now(),
      failure: null,
    }
    try {
      requireFile()
      begin.run()
      requireEpoch()
      invalidateSharedQueries()
    } catch (error) {
      if (isLocked(error) && lockRetry < maxLockRetries)
        setTimeout(runBatch, lockRetryDelayMs, members, abandoned, lockRetry + 1)
      else finishBatch(group, () => rejectAll(withQueuedWrites(group), error))
      return
    }
    // Only microtasks pass between an operation's statements, so a whole group is over before this can fire.
    const waited = setImmediate(() =>
      rerunWithoutCurrent(
        group,
        new Error('an operation inside write() waited for something other than its statements'),
      ),
    )
    runWrites(group)
      .finally(() => clearImmediate(waited))
      .catch(onFatal)
  }

  /** Nobody else commits while this process has the write lock, so what is kept then is as it is stored. */
  function invalidateSharedQueries(): void {
    const version = dataVersion.get()
    if (version !== sharedOf) shared.clear()
    sharedOf = version
  }

  async function runWrites(group: WriteBatch): Promise<void> {
    const begunAt = monotonicNowMs()
    for (const member of group.writes) {
      if (member.deadlineMs < begunAt) {
        member.outcome = { error: deadlineExceeded() }
        continue
      }
      group.current = member
      group.hasCurrentWritten = false
      group.deferred.begin()
      try {
        member.outcome = { result: await member.operation(guardedTx(group, member)) }
      } catch (error) {
        if (group.isOver) return
        if (isStorageFailure(error)) group.failure ??= error
        if (group.hasCurrentWritten && !group.failure) return rerunWithoutCurrent(group, error)
        group.deferred.undo()
        member.outcome = { error }
      }
      if (group.isOver) return
      if (group.failure) return finishBatch(group, () => rejectAll(group, group.failure))
    }
    if (!group.deferred.isEmpty()) await storeDeferred(group)
    if (!group.isOver) commitBatch(group)
  }

  async function storeDeferred(group: WriteBatch): Promise<void> {
    group.current = null
    try {
      await group.deferred.store(guardedTx(group, null))
    } catch (error) {
      finishBatch(group, () => rejectAll(group, error))
    }
  }

  /** The member's own handle: what it left running when it ended must not write in the turn of the next. */
  function guardedTx(group: WriteBatch, member: QueuedWrite | null): Tx {
    const requireTurn = () => {
      if (group.isOver || group.current !== member) throw new Error('a statement was run after its operation had ended')
      if (group.failure) throw group.failure
    }
    return {
      deferred: {
        lock: (name, read) => {
          requireTurn()
          group.deferred.lock(name, read)
        },
        update: (name, how) => {
          requireTurn()
          return group.deferred.update(name, how)
        },
      },
      execute: (query: Query, params: object) => {
        requireTurn()
        const changed = connection.changedTableOf(query)
        try {
          const runBatch = () => connection.run(query, params)
          const rows = query.isShared ? shared.getOrRun(query, params, runBatch) : runBatch()
          // What answers the rows that it changes, and none, has changed nothing: a debit that nothing covers.
          if (changed !== null && (rows.length > 0 || !returnsRows(query))) {
            group.hasCurrentWritten = true
            group.changedTables.add(changed)
            shared.clearIfChangedBy(query)
          }
          return rows
        } catch (error) {
          if (!raw.inTransaction || isStorageFailure(error)) group.failure = error
          throw error
        }
      },
    } as Pick<Tx, 'deferred' | 'execute'> as Tx
  }

  function commitBatch(group: WriteBatch): void {
    const begunAt = performance.now()
    try {
      commit.run()
    } catch (error) {
      shared.clear()
      if (!isKnownUncommitted(error)) onFatal(error as Error)
      finishBatch(group, () => rejectAll(group, error))
      return
    }
    commits++
    const committed = { writes: group.writes.length, seconds: (performance.now() - begunAt) / 1_000 }
    // It is stored: what fails of this is no reason to leave it unanswered.
    try {
      onCommitted?.(committed)
      for (const member of group.writes) member.onCommitted?.(committed)
      onCommit(group.changedTables)
    } catch (error) {
      setImmediate(onFatal, error as Error)
    }
    try {
      requireFile()
    } catch (error) {
      finishBatch(group, () => rejectAll(group, unknownOutcome(error)))
      return
    }
    finishBatch(group, () => {
      for (const { outcome, resolve, reject } of allWrites(group)) {
        if (outcome && 'result' in outcome) {
          writes++
          resolve(outcome.result)
        } else reject(outcome?.error)
      }
    })
  }

  /** Rolls everything back and runs the others again; the current member is refused with `error` when they are answered. */
  function rerunWithoutCurrent(group: WriteBatch, error: unknown): void {
    const { current, writes: members, excluded: abandoned } = group
    if (current) current.outcome = { error }
    group.isOver = true
    rollBack()
    runBatch(
      members.filter((member) => member !== current),
      current ? [...abandoned, current] : abandoned,
    )
  }

  function rollBack(): void {
    if (!raw.inTransaction) return
    rollback.run()
    shared.clear()
  }

  function finishBatch(group: WriteBatch, answer: () => void): void {
    group.isOver = true
    rollBack()
    lastGroupMs = performance.now() - group.startedAt
    answer()
    startNextBatch()
  }

  /** Whoever is still waiting would wait as long for the same lock again. */
  function withQueuedWrites(group: WriteBatch): WriteBatch {
    const waiting = queue
    queue = []
    return { ...group, excluded: [...group.excluded, ...waiting] }
  }

  function rejectAll(group: WriteBatch, error: unknown): void {
    const refusal = isStorageFailure(error) ? Object.assign(unavailable(), { cause: error }) : error
    for (const { reject } of allWrites(group)) reject(refusal)
  }

  return {
    write,
    requireQueueSpace,
    onBeforeBatch: (call) => {
      beforeGroup = call
    },
    statistics: () => ({ writes, commits, queued: queue.length }),
    drain: () => new Promise((resolve) => (isBusy ? drained.push(resolve) : resolve())),
  }
}

function allWrites({ writes: members, excluded: abandoned }: WriteBatch): readonly QueuedWrite[] {
  return abandoned.length === 0 ? members : [...members, ...abandoned]
}

/** Another process writes just now. */
function isLocked(error: unknown): boolean {
  return /^SQLITE_BUSY/.test(String((error as { code?: unknown })?.code))
}

/** The disk is full, the file is locked or unreadable: nothing that the operation did, and it may work later. */
function isStorageFailure(error: unknown): boolean {
  return /^SQLITE_(FULL|BUSY|LOCKED|IOERR|READONLY|CANTOPEN|NOMEM)/.test(String((error as { code?: unknown })?.code))
}

/** A full disk stops the log before its commit record is written; after any other failure the record may be there. */
function isKnownUncommitted(error: unknown): boolean {
  return /^SQLITE_(FULL|BUSY|CONSTRAINT)/.test(String((error as { code?: unknown })?.code))
}
