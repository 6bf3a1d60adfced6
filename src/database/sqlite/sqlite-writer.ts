import { unavailable, unknownOutcome } from '../../core/errors.ts'
import type { Database, OnCommitted, WriteOptions } from '../database.ts'
import type { DeferredWrites, Outcome, QueuedWrite, WriteOperation } from '../group-commit.ts'
import {
  deadlineExceeded,
  deferredWrites,
  groupCommit,
  guardedTx,
  maxQueuedWrites,
  monotonicNowMs,
  operationEnded,
  writeQueueFull,
  writeTimeoutMs,
} from '../group-commit.ts'
import type { Query, Tx } from '../query.ts'
import { returnsRows } from '../query.ts'
import { sharedQueryCache } from '../query-caches.ts'
import type { ChangedTable, SqliteConnection } from './sqlite-connection.ts'

export const maxBatchSize = 256

/**
 * A queue is overdue after `minOverdueMs` or the duration of the last batch, whichever is longer. An overdue queue is
 * committed within the current event-loop iteration, so that commits get at least half of the time during a flood of
 * requests.
 */
const minOverdueMs = 50

const maxLockRetries = 500
const lockRetryDelayMs = 10

export type SqliteWriter = Pick<Database, 'write' | 'requireQueueSpace' | 'onBeforeBatch' | 'statistics'> & {
  readonly drain: () => Promise<void>
}

type SqliteWrite = QueuedWrite & { outcome: Outcome | null }

type WriteBatch = {
  readonly writes: readonly SqliteWrite[]
  /** An excluded write has caused a rollback of the batch, and is rejected when the batch ends. */
  readonly excluded: readonly SqliteWrite[]
  readonly changedTables: Set<ChangedTable>
  readonly deferred: DeferredWrites
  current: SqliteWrite | null
  hasCurrentWritten: boolean
  isOver: boolean
  readonly startedAt: number
  /** A storage failure or a lost transaction fails the whole batch, even if an operation caught the error. */
  failure: unknown
}

/**
 * Group commit: the writes that arrive during a batch form the next batch. The operations of a batch run one after
 * another in one transaction, with one COMMIT and one sync.
 *
 * - Callers get results and errors only after the COMMIT. An error may depend on the writes of an earlier operation in
 *   the same batch.
 * - An operation that throws before its first write changes nothing.
 * - If an operation throws after a write, the batch is rolled back and runs again without the operation. A rollback is
 *   rare, because operations check before they write. A savepoint for each operation would cost more.
 * - An operation that awaits anything except its own statements fails, because a batch must end within one event-loop
 *   iteration.
 *
 * @param requireDatabaseFile called before each batch and after its commit; throws if the file was removed or replaced
 * @param requireWriterEpoch called in each transaction before its writes; throws if another process has become the
 *   writer
 * @param onCommit called after each commit with the changed tables, before any caller gets a result
 * @param onFatal called when the outcome of a commit is unknown, or a callback throws
 */
export function sqliteWriter(
  connection: SqliteConnection,
  {
    requireDatabaseFile,
    requireWriterEpoch,
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
  const { report, settle, counts } = groupCommit({ onCommitted, onFatal })
  // While SQLite waits for a lock, the event loop and all reads are blocked. `runBatch` retries instead.
  raw.pragma('busy_timeout = 0')
  const begin = raw.prepare('begin immediate')
  const commit = raw.prepare('commit')
  const rollback = raw.prepare('rollback')
  const dataVersion = raw.prepare('pragma data_version').pluck()
  const sharedResults = sharedQueryCache<unknown[]>()
  let sharedResultsVersion: unknown = null
  let queue: SqliteWrite[] = []
  let isBusy = false
  /**
   * `isIdle` is true if the last batch was a single write, and no other write arrived in the same event-loop iteration.
   * While the writer is idle, the next write runs immediately, without waiting for other writes.
   */
  let isIdle = false
  let lastBatchSize = 0
  let idleCheck: NodeJS.Immediate | undefined
  let nextBatch: NodeJS.Immediate | null = null
  let overdueAt = 0
  let lastBatchMs = 0
  let onBeforeBatch = () => {}
  const drained: (() => void)[] = []

  function write<Result>(
    operation: WriteOperation<Result>,
    { deadlineMs = monotonicNowMs() + writeTimeoutMs, onCommitted }: WriteOptions = {},
  ): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      requireQueueSpace()
      queue.push({ operation, deadlineMs, onCommitted, resolve, reject, outcome: null })
      if (!isBusy) startNextBatch()
    })
  }

  function requireQueueSpace(): void {
    if (nextBatch !== null && performance.now() >= overdueAt) runNextBatch()
    if (queue.length >= maxQueuedWrites) throw writeQueueFull()
  }

  function startNextBatch(): void {
    if (queue.length === 0) {
      isBusy = false
      if (lastBatchSize === 1)
        idleCheck = setImmediate(() => {
          isIdle = true
        })
      for (const resolve of drained.splice(0)) resolve()
      return
    }
    clearImmediate(idleCheck)
    const waitsForOthers = !isIdle
    isIdle = false
    isBusy = true
    if (!waitsForOthers) {
      runNextBatch()
      return
    }
    // The other requests of this event-loop iteration run before the batch, so that their writes join the batch.
    nextBatch = setImmediate(runNextBatch)
    overdueAt = performance.now() + Math.max(minOverdueMs, lastBatchMs)
  }

  function runNextBatch(): void {
    clearImmediate(nextBatch ?? undefined)
    nextBatch = null
    onBeforeBatch()
    const writes = queue.slice(0, maxBatchSize)
    queue = queue.slice(maxBatchSize)
    lastBatchSize = writes.length
    runBatch(writes)
  }

  function runBatch(writes: readonly SqliteWrite[], excluded: readonly SqliteWrite[] = [], lockRetries = 0): void {
    const batch: WriteBatch = {
      writes,
      excluded,
      changedTables: new Set(),
      deferred: deferredWrites(),
      current: null,
      hasCurrentWritten: false,
      isOver: false,
      startedAt: performance.now(),
      failure: null,
    }
    try {
      requireDatabaseFile()
      begin.run()
      requireWriterEpoch()
      invalidateSharedQueries()
    } catch (error) {
      if (isLocked(error) && lockRetries < maxLockRetries)
        setTimeout(runBatch, lockRetryDelayMs, writes, excluded, lockRetries + 1)
      else finishBatch(batch, () => rejectAll(withQueuedWrites(batch), error))
      return
    }
    // An operation that awaits only its own statements ends before `setImmediate` runs this callback.
    const foreignAwait = setImmediate(() =>
      rerunWithoutCurrent(
        batch,
        new Error('an operation inside write() awaited something other than its own statements'),
      ),
    )
    runWrites(batch)
      .finally(() => clearImmediate(foreignAwait))
      .catch(onFatal)
  }

  /**
   * The transaction holds the write lock, so no other process can make the cached results stale before the transaction
   * ends.
   */
  function invalidateSharedQueries(): void {
    const version = dataVersion.get()
    if (version !== sharedResultsVersion) sharedResults.clear()
    sharedResultsVersion = version
  }

  async function runWrites(batch: WriteBatch): Promise<void> {
    const startedAt = monotonicNowMs()
    const tx = batchTx(batch)
    for (const write of batch.writes) {
      if (write.deadlineMs < startedAt) {
        write.outcome = { error: deadlineExceeded() }
        continue
      }
      batch.current = write
      batch.hasCurrentWritten = false
      batch.deferred.begin()
      try {
        const result = await write.operation(guardedTx(tx, () => requireCurrent(batch, write)))
        if (batch.isOver) return
        write.outcome = { result }
      } catch (error) {
        if (batch.isOver) return
        if (isStorageFailure(error)) batch.failure ??= error
        if (batch.hasCurrentWritten && !batch.failure) return rerunWithoutCurrent(batch, error)
        batch.deferred.undo()
        write.outcome = { error }
      }
      if (batch.failure) return finishBatch(batch, () => rejectAll(batch, batch.failure))
    }
    if (!batch.deferred.isEmpty()) await storeDeferred(batch, tx)
    if (!batch.isOver) commitBatch(batch)
  }

  async function storeDeferred(batch: WriteBatch, tx: Tx): Promise<void> {
    batch.current = null
    try {
      await batch.deferred.store(guardedTx(tx, () => requireCurrent(batch, null)))
    } catch (error) {
      finishBatch(batch, () => rejectAll(batch, error))
    }
  }

  function requireCurrent(batch: WriteBatch, write: SqliteWrite | null): void {
    if (batch.isOver || batch.current !== write) throw operationEnded()
    if (batch.failure) throw batch.failure
  }

  function batchTx(batch: WriteBatch): Tx {
    const execute = (query: Query, params: object) => {
      const changedTable = connection.changedTableOf(query)
      try {
        const run = () => connection.run(query, params)
        const rows = query.isShared ? sharedResults.getOrRun(query, params, run) : run()
        // A statement with RETURNING that returns no row has changed nothing, for example a debit above the balance.
        if (changedTable !== null && (rows.length > 0 || !returnsRows(query))) {
          batch.hasCurrentWritten = true
          batch.changedTables.add(changedTable)
          sharedResults.clearIfChangedBy(query)
        }
        return rows
      } catch (error) {
        if (!raw.inTransaction || isStorageFailure(error)) batch.failure = error
        throw error
      }
    }
    return { execute, deferred: batch.deferred } as Pick<Tx, 'deferred' | 'execute'> as Tx
  }

  function commitBatch(batch: WriteBatch): void {
    const commitStartedAt = performance.now()
    try {
      commit.run()
    } catch (error) {
      sharedResults.clear()
      if (!isKnownUncommitted(error)) onFatal(error as Error)
      finishBatch(batch, () => rejectAll(batch, error))
      return
    }
    report(batch.writes, commitStartedAt, () => onCommit(batch.changedTables))
    try {
      requireDatabaseFile()
    } catch (error) {
      finishBatch(batch, () => rejectAll(batch, unknownOutcome(error)))
      return
    }
    finishBatch(batch, () => {
      for (const write of allWrites(batch)) settle(write, write.outcome as Outcome)
    })
  }

  function rerunWithoutCurrent(batch: WriteBatch, error: unknown): void {
    const { current, writes, excluded } = batch
    if (current) current.outcome = { error }
    batch.isOver = true
    rollBack()
    runBatch(
      writes.filter((write) => write !== current),
      current ? [...excluded, current] : excluded,
    )
  }

  function rollBack(): void {
    if (!raw.inTransaction) return
    rollback.run()
    sharedResults.clear()
  }

  function finishBatch(batch: WriteBatch, answer: () => void): void {
    batch.isOver = true
    rollBack()
    lastBatchMs = performance.now() - batch.startedAt
    answer()
    startNextBatch()
  }

  /** Rejects the queued writes too, because they would wait equally long for the write lock. */
  function withQueuedWrites(batch: WriteBatch): WriteBatch {
    const queued = queue
    queue = []
    return { ...batch, excluded: [...batch.excluded, ...queued] }
  }

  function rejectAll(batch: WriteBatch, error: unknown): void {
    const reported = isStorageFailure(error) ? Object.assign(unavailable(), { cause: error }) : error
    for (const write of allWrites(batch)) settle(write, { error: reported })
  }

  return {
    write,
    requireQueueSpace,
    onBeforeBatch: (call) => {
      onBeforeBatch = call
    },
    statistics: () => ({ ...counts(), queued: queue.length }),
    drain: () => new Promise((resolve) => (isBusy ? drained.push(resolve) : resolve())),
  }
}

function allWrites({ writes, excluded }: WriteBatch): readonly SqliteWrite[] {
  return excluded.length === 0 ? writes : [...writes, ...excluded]
}

function isLocked(error: unknown): boolean {
  return /^SQLITE_BUSY/.test(String((error as { code?: unknown })?.code))
}

function isStorageFailure(error: unknown): boolean {
  return /^SQLITE_(FULL|BUSY|LOCKED|IOERR|READONLY|CANTOPEN|NOMEM)/.test(String((error as { code?: unknown })?.code))
}

/**
 * If the disk is full, SQLite writes no commit record to the WAL. After an I/O error, the commit record may be on disk.
 */
function isKnownUncommitted(error: unknown): boolean {
  return /^SQLITE_(FULL|BUSY|CONSTRAINT)/.test(String((error as { code?: unknown })?.code))
}
