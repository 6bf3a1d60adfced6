import type { DeleteQueryNode, InsertQueryNode, UpdateQueryNode } from 'kysely'
import { DomainError } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import { mapMaybe } from '../../core/maybe-promise.ts'
import type { Database, OnCommitted, WatchedTable, WriteOptions } from '../database.ts'
import { watchedTables } from '../database.ts'
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
import type { DeferredValues, Query, Tx } from '../query.ts'
import { isRead, returnsRows } from '../query.ts'
import { tableNameOf } from '../query-nodes.ts'
import { snakeCase } from '../tables.ts'
import type { PostgresPool } from './pool.ts'
import type { ControlStatement } from './postgres-connection.ts'
import { isLockTimeout, isRetryableConflict, unavailableIfTransient } from './postgres-errors.ts'
import { openTransaction } from './transaction.ts'
import type { BatchableWrite } from './write-batcher.ts'
import { writeBatcher } from './write-batcher.ts'

const maxAttempts = 12
const initialBackoffMs = 4
const maxBackoffMs = 250

/**
 * A transaction that waits too long for a lock fails and is retried later. Until the retry, other transactions can use
 * the connection.
 */
const begin: readonly ControlStatement[] = ['begin', 'lockTimeout']

/** `maxBatchSize` limits the latency of writes after a burst. */
const maxBatchSize = 64

/** While the rows of a merchant are locked, the writes of this merchant can fill at most half of the queue. */
const maxQueuedPerMerchant = maxQueuedWrites / 2

export type PostgresWriter = Pick<Database, 'write' | 'statistics'>

type MerchantWrite = QueuedWrite & { readonly merchantId: string }

/**
 * Transactions are READ COMMITTED. Isolation comes from the statements: conditional updates, unique keys, and `select …
 * for update` on the rows that an operation depends on.
 *
 * A concurrent batch runs `Batchable` writes of many merchants concurrently in one transaction, so that one round trip
 * contains statements of many writes. If a concurrent batch fails, each write moves to the serial queue of its
 * merchant.
 *
 * A serial batch runs other writes of one merchant one after another in one transaction. Each write locks the
 * merchant's sequence until COMMIT, so concurrent transactions would only wait. If a serial batch fails, each write
 * runs alone.
 *
 * A write that runs alone is retried after conflicts up to `maxAttempts` times, and after lock timeouts until its
 * deadline.
 *
 * A write whose connection breaks is rejected with UNAVAILABLE, and not retried. If the connection breaks during
 * COMMIT, the write may be stored.
 *
 * @param notifyChange called after COMMIT for each watched table that the transaction changed
 * @param onFatal called when a callback throws
 */
export function postgresWriter(
  pool: PostgresPool,
  {
    connections,
    notifyChange,
    onCommitted,
    onFatal,
  }: {
    readonly connections: number
    readonly notifyChange: (table: WatchedTable) => void
    readonly onCommitted?: OnCommitted | undefined
    readonly onFatal: (error: Error) => void
  },
): PostgresWriter {
  const { report, settle, counts } = groupCommit({ onCommitted, onFatal })
  /**
   * Retries after a lock timeout use at most half of the pool. The other half of the pool serves merchants without
   * locked rows.
   */
  const maxLockRetries = Math.max(1, Math.floor(connections / 2))
  let lockRetries = 0
  const serialQueues = new Map<string, MerchantWrite[]>()
  let seriallyQueued = 0
  /**
   * Number of unfinished writes from failed concurrent batches, by merchant. While a merchant has such unfinished
   * writes, the merchant joins no concurrent batch.
   */
  const isolated = new Map<string, number>()
  const batcher = writeBatcher<MerchantWrite & BatchableWrite>(maxBatchSize, runConcurrentBatch)

  const queued = () => seriallyQueued + batcher.queued()
  const queuedFor = (merchantId: string) => (serialQueues.get(merchantId)?.length ?? 0) + batcher.queuedFor(merchantId)

  function write<Result>(
    operation: WriteOperation<Result>,
    { merchantId, batchable, deadlineMs = monotonicNowMs() + writeTimeoutMs, onCommitted }: WriteOptions = {},
  ): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const queuedWrite = { operation, deadlineMs, onCommitted, resolve, reject }
      if (merchantId === undefined) {
        runAlone(queuedWrite)
        return
      }
      if (queued() >= maxQueuedWrites || queuedFor(merchantId) >= maxQueuedPerMerchant) throw writeQueueFull()
      const merchantWrite = { ...queuedWrite, merchantId }
      if (batchable === undefined || isolated.has(merchantId)) enqueueSerially(merchantWrite)
      else batcher.add({ ...merchantWrite, batchable })
    })
  }

  async function runAlone(write: QueuedWrite): Promise<void> {
    settle(write, await runWithRetries(write))
  }

  async function runWithRetries(write: QueuedWrite): Promise<Outcome> {
    let conflicts = 0
    let isLockRetry = false
    while (monotonicNowMs() <= write.deadlineMs) {
      if (!isLockRetry || lockRetries < maxLockRetries) {
        const permits = isLockRetry ? 1 : 0
        lockRetries += permits
        try {
          return { result: await inTransaction((tx) => runGuarded(tx, write.operation), [write]) }
        } catch (error) {
          isLockRetry = isLockTimeout(error)
          const mayRetry = isLockRetry || (isRetryableConflict(error) && ++conflicts < maxAttempts)
          if (!mayRetry) return { error: unavailableIfTransient(error) }
        } finally {
          lockRetries -= permits
        }
      }
      await backOff(isLockRetry ? maxAttempts : conflicts)
    }
    return { error: deadlineExceeded() }
  }

  async function inTransaction<Result>(
    run: (tx: Tx, deferred: DeferredWrites) => MaybePromise<Result>,
    writes: readonly QueuedWrite[],
  ): Promise<Result> {
    const transaction = openTransaction(pool, begin)
    const deferred = deferredWrites()
    const changed = new Set<WatchedTable>()
    const execute: Tx['execute'] = (query, params) => {
      const table = watchedTableOf(query)
      if (table) changed.add(table)
      return transaction.execute(query, params)
    }
    const tx = { execute, deferred } as unknown as Tx
    let result: Result
    let commitStartedAt = 0
    try {
      result = await run(tx, deferred)
      await deferred.store(tx)
      commitStartedAt = performance.now()
      await transaction.commit()
    } catch (error) {
      throw await transaction.rollBack(error)
    }
    report(writes, commitStartedAt, () => {
      for (const table of changed) notifyChange(table)
    })
    return result
  }

  function enqueueSerially(write: MerchantWrite): void {
    const queue = serialQueues.get(write.merchantId)
    if (queue) {
      queue.push(write)
      seriallyQueued++
      return
    }
    serialQueues.set(write.merchantId, [])
    runSerialBatches(write.merchantId, [write])
  }

  async function runSerialBatches(merchantId: string, first: readonly MerchantWrite[]): Promise<void> {
    for (let batch = first; batch.length > 0; ) {
      await runSerialBatch(batch)
      batch = serialQueues.get(merchantId)?.splice(0, maxBatchSize) ?? []
      seriallyQueued -= batch.length
    }
    serialQueues.delete(merchantId)
  }

  async function runSerialBatch(batch: readonly MerchantWrite[]): Promise<void> {
    const [only] = batch
    if (batch.length === 1 && only) return runAlone(only)
    await commitBatch(batch, {
      run: async (tx, deferred) => {
        const outcomes: Outcome[] = []
        for (const write of batch) outcomes.push(await runInBatch(write, tx, { deferred, isConcurrent: false }))
        return outcomes
      },
      rerun: runAlone,
    })
  }

  /**
   * If one write waits for a lock, all writes of the batch wait (head-of-line blocking). `lock_timeout` limits the wait
   * of the batch.
   */
  async function runConcurrentBatch(batch: readonly MerchantWrite[]): Promise<void> {
    await commitBatch(batch, {
      run: async (tx, deferred) => {
        const running = batch.map((write) => runInBatch(write, tx, { deferred, isConcurrent: true }))
        // If one write fails, the remaining writes still use the transaction, so the rollback waits for all writes.
        await Promise.allSettled(running)
        return Promise.all(running)
      },
      rerun: runIsolated,
    })
  }

  function runIsolated(write: MerchantWrite): void {
    const { merchantId, resolve, reject } = write
    const addToCount = (difference: number) => {
      const count = (isolated.get(merchantId) ?? 0) + difference
      if (count > 0) isolated.set(merchantId, count)
      else isolated.delete(merchantId)
    }
    addToCount(1)
    const thenEnd =
      <Value>(answer: (value: Value) => void) =>
      (value: Value) => {
        addToCount(-1)
        answer(value)
      }
    enqueueSerially({ ...write, resolve: thenEnd(resolve), reject: thenEnd(reject) })
  }

  /** If the batch fails, calls `rerun` for each write, unless the server is down. */
  async function commitBatch(batch: readonly MerchantWrite[], { run, rerun }: BatchRunner): Promise<void> {
    let outcomes: readonly Outcome[]
    try {
      outcomes = await inTransaction(run, batch)
    } catch (error) {
      const reported = unavailableIfTransient(error)
      const mayRetry = isRetryableConflict(error) || isLockTimeout(error)
      const isServerDown = reported instanceof DomainError && reported.code === 'UNAVAILABLE' && !mayRetry
      for (const write of batch) {
        if (isServerDown) settle(write, { error: reported })
        else await rerun(write)
      }
      return
    }
    for (const [i, write] of batch.entries()) settle(write, outcomes[i] as Outcome)
  }

  return { write, statistics: () => ({ ...counts(), queued: queued() }) }
}

/** @throws the operation's error, if only a rollback of the batch can undo the write */
async function runInBatch(
  { operation, deadlineMs }: QueuedWrite,
  tx: Tx,
  { deferred, isConcurrent }: { readonly deferred: DeferredWrites; readonly isConcurrent: boolean },
): Promise<Outcome> {
  if (deadlineMs < monotonicNowMs()) return { error: deadlineExceeded() }
  let hasWritten = false
  let pendingStatements = 0
  const execute: Tx['execute'] = (query, params) => {
    if (isRead(query)) return tx.execute(query, params)
    if (!returnsRows(query)) hasWritten = true
    pendingStatements++
    // A statement with RETURNING that returns no row has changed nothing, for example a debit above the balance.
    return mapMaybe(tx.execute<never>(query, params), (rows) => {
      pendingStatements--
      if (rows.length > 0) hasWritten = true
      return rows
    })
  }
  // In a concurrent batch, other writes may already use the new value, so only a rollback of the batch can undo the
  // value.
  const update: DeferredValues['update'] = (name, how) => {
    hasWritten = true
    return deferred.update(name, how)
  }
  if (!isConcurrent) deferred.begin()
  try {
    const own = { execute, deferred: isConcurrent ? { ...deferred, update } : deferred }
    return { result: await runGuarded(own as unknown as Tx, operation) }
  } catch (error) {
    // The batch must be rolled back if the operation has changed rows, or if a statement has failed. A statement that
    // was not awaited may still change a row.
    if (!(error instanceof DomainError) || hasWritten || pendingStatements > 0) throw error
    if (!isConcurrent) deferred.undo()
    return { error }
  }
}

async function runGuarded<Result>(tx: Tx, operation: WriteOperation<Result>): Promise<Result> {
  let hasEnded = false
  const requireRunning = () => {
    if (hasEnded) throw operationEnded()
  }
  try {
    return await operation(guardedTx(tx, requireRunning))
  } finally {
    hasEnded = true
  }
}

type BatchRunner = {
  readonly run: (tx: Tx, deferred: DeferredWrites) => Promise<readonly Outcome[]>
  readonly rerun: (write: MerchantWrite) => void | Promise<void>
}

const watchedTableByQuery = new Map<number, WatchedTable | null>()

function watchedTableOf(query: Query): WatchedTable | null {
  if (isRead(query) || query.projection) return null
  const cached = watchedTableByQuery.get(query.number)
  if (cached !== undefined) return cached
  const changed = changedTable(query)
  const table = watchedTables.find((watched) => snakeCase(watched) === changed) ?? null
  watchedTableByQuery.set(query.number, table)
  return table
}

function changedTable({ node }: Query): string | null {
  const { into, table, from } = node as Partial<
    Pick<InsertQueryNode, 'into'> & Pick<UpdateQueryNode, 'table'> & Pick<DeleteQueryNode, 'from'>
  >
  const changed = into ?? table ?? from?.froms[0]
  return changed ? tableNameOf(changed) : null
}

function backOff(attempt: number): Promise<void> {
  const maxDelayMs = Math.min(maxBackoffMs, initialBackoffMs * 2 ** attempt)
  return new Promise((resolve) => setTimeout(resolve, Math.random() * maxDelayMs))
}
