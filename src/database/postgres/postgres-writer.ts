import { DomainError } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import { mapMaybe } from '../../core/maybe-promise.ts'
import type { Database, OnCommitted, WatchedTable, WriteOptions } from '../database.ts'
import { watchedTables } from '../database.ts'
import { deadlineExceeded, maxQueuedWrites, monotonicNowMs, writeQueueFull, writeTimeoutMs } from '../deadline.ts'
import type { DeferredWrites } from '../deferred-writes.ts'
import { deferredWrites } from '../deferred-writes.ts'
import type { DeferredValues, Query, Tx } from '../query.ts'
import { changedTable, isRead, returnsRows } from '../query.ts'
import type { PostgresPool } from './pool.ts'
import type { ControlStatement } from './postgres-connection.ts'
import { isLockTimeout, isRetryableConflict, unavailableIfTransient } from './postgres-errors.ts'
import { openTransaction } from './transaction.ts'
import type { BatchableWrite } from './write-batcher.ts'
import { writeBatcher } from './write-batcher.ts'

/** How often an operation runs that loses to others each time, and how long it waits in between: at most, and at random. */
const maxAttempts = 12
const initialBackoffMs = 4
const maxBackoffMs = 250

/**
 * How transactions begin. One that waits longer for a lock is given up, and runs again until its time is over: with its connection
 * given back in between, so that whoever holds the rows of many merchants takes no connection from all others.
 */
const begin: readonly ControlStatement[] = ['begin', 'waitShortly']

/** Operations that share one transaction at most, so that those behind them do not wait for all that a burst brought. */
const maxBatchSize = 64

/** How many of those that may wait are one merchant's at most, so that there is room for others when somebody holds its rows. */
const maxQueuedPerMerchant = maxQueuedWrites / 2

/** The write side: a transaction for each operation, or for several that wait for one another anyway or are no matter to each other. */
export type PostgresWriter = Pick<Database, 'write' | 'statistics'>

type WriteOperation<Result> = (tx: Tx) => MaybePromise<Result>

/** See `WriteOptions`. */
type SingleWrite<Result> = {
  readonly operation: WriteOperation<Result>
  readonly deadlineMs: number
  readonly onCommitted: OnCommitted | undefined
}

type MerchantWrite = SingleWrite<unknown> & {
  readonly merchantId: string
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

/**
 * Runs operations in transactions, READ COMMITTED.
 *
 * Rows are safe from each other by what the statements say: conditional updates, unique keys, and locks on rows that an
 * operation reads and then builds on. Whoever loses to another (a serialization failure, a deadlock, a unique key that is
 * taken, a `Conflict`) runs again from the start and is refused with UNAVAILABLE in the end. So is one whose connection
 * broke; where that was during COMMIT it does not run again, because it may be there.
 *
 * Operations of one merchant would wait for each other: each holds the merchant's next number until it is on disk. So those
 * that come while one runs form a group that runs next, one after another in one transaction with one COMMIT, and only then
 * is anyone answered. When one of them loses or fails all is undone and each runs alone.
 *
 * Payouts, of which there are many at once, run at the same time in one transaction, of whatever merchants (`Beside`): what all of
 * them ask for is one round trip. What keeps one of these waiting is no matter to the others: see `runBeside`.
 *
 * @param connections how many the pool has
 * @param tell told after a commit which of the watched tables it has changed
 * @param onCommitted told of each commit, where somebody measures them; those who wait are told of theirs
 * @param onFatal told where one of these throws: what is stored is answered all the same, and never runs again
 */
export function postgresWriter(
  pool: PostgresPool,
  {
    connections,
    notifyChange: tell,
    onCommitted,
    onFatal,
  }: {
    readonly connections: number
    readonly notifyChange: (table: WatchedTable) => void
    readonly onCommitted?: OnCommitted | undefined
    readonly onFatal: (error: Error) => void
  },
): PostgresWriter {
  /** Whoever was kept waiting by a lock asks again by so many connections at most: the others are there for everybody else. */
  const mostAskingAgain = Math.max(1, Math.floor(connections / 2))
  let askingAgain = 0
  /** Who waits for each merchant that has a group running. */
  const waitingFor = new Map<string, MerchantWrite[]>()
  /** Merchants that made a group fail, or may have, by how many of their operations have yet to end: who comes now had better not share. */
  const apart = new Map<string, number>()
  const lanes = writeBatcher<MerchantWrite & BatchableWrite>(maxBatchSize, runConcurrentBatch)
  /** How many wait in `waitingFor`. */
  let waitingInTurn = 0
  let writes = 0
  let commits = 0

  async function runAlone<Result>({
    operation,
    deadlineMs: beginBy,
    onCommitted,
  }: SingleWrite<Result>): Promise<Result> {
    let losses = 0
    let isKept = false
    for (;;) {
      if (beginBy < monotonicNowMs()) throw deadlineExceeded()
      if (isKept && askingAgain >= mostAskingAgain) {
        await backOff(maxAttempts)
        continue
      }
      const asksAgain = Number(isKept)
      askingAgain += asksAgain
      try {
        const result = await inTransaction((tx) => withGuardedTx(tx, operation), [onCommitted])
        writes++
        return result
      } catch (error) {
        isKept = isLockTimeout(error)
        if (!isKept && (!isRetryableConflict(error) || ++losses === maxAttempts)) throw unavailableIfTransient(error)
      } finally {
        askingAgain -= asksAgain
      }
      await backOff(isKept ? maxAttempts : losses)
    }
  }

  async function inTransaction<Result>(
    run: (tx: Tx, pending: DeferredWrites) => MaybePromise<Result>,
    told: readonly (OnCommitted | undefined)[],
  ): Promise<Result> {
    const transaction = openTransaction(pool, begin)
    const pending = deferredWrites()
    const changed = new Set<WatchedTable>()
    const execute: Tx['execute'] = (query, params) => {
      const table = watchedTableOf(query)
      if (table) changed.add(table)
      return transaction.execute(query, params)
    }
    const tx = { execute, deferred: pending } as unknown as Tx
    let result: Result
    let begunAt = 0
    try {
      result = await run(tx, pending)
      await pending.store(tx)
      begunAt = performance.now()
      await transaction.commit()
    } catch (error) {
      throw await transaction.rollBack(error)
    }
    commits++
    const committed = { writes: told.length, seconds: (performance.now() - begunAt) / 1_000 }
    // It is stored: what fails of this is no reason to do it again.
    try {
      for (const tellOf of [onCommitted, ...told]) tellOf?.(committed)
      for (const table of changed) tell(table)
    } catch (error) {
      setImmediate(onFatal, error as Error)
    }
    return result
  }

  const queued = () => waitingInTurn + lanes.queued()
  const queuedFor = (merchantId: string) => (waitingFor.get(merchantId)?.length ?? 0) + lanes.queuedFor(merchantId)

  function write<Result>(
    operation: WriteOperation<Result>,
    { merchantId, batchable: beside, deadlineMs = monotonicNowMs() + writeTimeoutMs, onCommitted }: WriteOptions = {},
  ): Promise<Result> {
    const lone = { operation, deadlineMs, onCommitted }
    if (merchantId === undefined) return runAlone(lone)
    return new Promise<Result>((resolve, reject) => {
      // What it throws rejects the promise.
      if (queued() >= maxQueuedWrites || queuedFor(merchantId) >= maxQueuedPerMerchant) throw writeQueueFull()
      const member = { ...lone, merchantId, resolve, reject }
      if (beside === undefined || apart.has(merchantId)) enqueueSerially(member)
      else lanes.add({ ...member, batchable: beside })
    })
  }

  function enqueueSerially(member: MerchantWrite): void {
    const others = waitingFor.get(member.merchantId)
    if (others) {
      others.push(member)
      waitingInTurn++
      return
    }
    waitingFor.set(member.merchantId, [])
    runSerialBatches(member.merchantId, [member])
  }

  /**
   * Runs members beside each other. Where one fails, or waits for a lock, all is undone and each runs in the turn of its merchant:
   * nobody has to wait for what is another's.
   */
  async function runConcurrentBatch(group: readonly MerchantWrite[]): Promise<void> {
    await commitBatch(group, {
      run: async (tx, pending) => {
        const running = group.map((member) => runInBatch(member, tx, { pending, isBeside: true }))
        // None goes on when the transaction has ended.
        await Promise.allSettled(running)
        return Promise.all(running)
      },
      rerun: runIsolated,
    })
  }

  function runIsolated(member: MerchantWrite): void {
    const { merchantId } = member
    const change = (by: number) => {
      const left = (apart.get(merchantId) ?? 0) + by
      if (left > 0) apart.set(merchantId, left)
      else apart.delete(merchantId)
    }
    change(1)
    const ended =
      <Answer>(answer: (given: Answer) => void) =>
      (given: Answer) => {
        change(-1)
        answer(given)
      }
    enqueueSerially({ ...member, resolve: ended(member.resolve), reject: ended(member.reject) })
  }

  async function runSerialBatches(merchantId: string, first: readonly MerchantWrite[]): Promise<void> {
    for (let group = first; group.length > 0; ) {
      await runSerialBatch(group)
      group = waitingFor.get(merchantId)?.splice(0, maxBatchSize) ?? []
      waitingInTurn -= group.length
    }
    waitingFor.delete(merchantId)
  }

  async function runSerialBatch(group: readonly MerchantWrite[]): Promise<void> {
    const [lone] = group
    if (group.length === 1 && lone) return settleAlone(lone)
    await commitBatch(group, {
      run: async (tx, pending) => {
        const answers = []
        for (const member of group) answers.push(await runInBatch(member, tx, { pending, isBeside: false }))
        return answers
      },
      rerun: settleAlone,
    })
  }

  function settleAlone(member: MerchantWrite): Promise<void> {
    return runAlone(member).then(member.resolve as () => void, member.reject)
  }

  /** Runs a group in one transaction and answers its members; when one of them loses or fails it does `otherwise` with each. */
  async function commitBatch(group: readonly MerchantWrite[], { run, rerun: otherwise }: BatchRunner): Promise<void> {
    const told = group.map((member) => member.onCommitted)
    let answers: readonly (() => void)[] = []
    try {
      answers = await inTransaction(run, told)
    } catch (error) {
      const refusal = unavailableIfTransient(error)
      const mayRun = isRetryableConflict(error) || isLockTimeout(error)
      const isAway = refusal instanceof DomainError && refusal.code === 'UNAVAILABLE' && !mayRun
      for (const member of group) {
        if (isAway) member.reject(refusal)
        else await otherwise(member)
      }
    }
    for (const answer of answers) answer()
  }

  /** Runs a member of a group; what it is to be told once that is durable. */
  async function runInBatch(
    { operation, deadlineMs: beginBy, resolve, reject }: MerchantWrite,
    tx: Tx,
    { pending, isBeside }: { readonly pending: DeferredWrites; readonly isBeside: boolean },
  ): Promise<() => void> {
    if (beginBy < monotonicNowMs()) return () => reject(deadlineExceeded())
    let hasWritten = false
    let unanswered = 0
    const execute: Tx['execute'] = (query, params) => {
      if (isRead(query)) return tx.execute(query, params)
      if (!returnsRows(query)) hasWritten = true
      unanswered++
      // What answers the rows that it changes, and none, has changed nothing: a debit that nothing covers.
      return mapMaybe(tx.execute<never>(query, params), (rows) => {
        unanswered--
        if (rows.length > 0) hasWritten = true
        return rows
      })
    }
    // Others have taken numbers after its own, so it could not give it back.
    const update: DeferredValues['update'] = (name, how) => {
      hasWritten = true
      return pending.update(name, how)
    }
    if (!isBeside) pending.begin()
    try {
      const own = { execute, deferred: isBeside ? { ...pending, update } : pending }
      const result = await withGuardedTx(own as unknown as Tx, operation)
      return () => {
        writes++
        resolve(result as never)
      }
    } catch (error) {
      // What has written nothing leaves nothing behind; a refusal may rest on what an earlier member wrote, so it waits too. A
      // statement that is still to be answered may write yet.
      if (!(error instanceof DomainError) || hasWritten || unanswered > 0) throw error
      if (!isBeside) pending.undo()
      return () => reject(error)
    }
  }

  return { write, statistics: () => ({ writes, commits, queued: queued() }) }
}

/** Runs an operation by a handle that ends with it: what it left running then must not write in the turn of the next. */
async function withGuardedTx<Result>(tx: Tx, operation: WriteOperation<Result>): Promise<Result> {
  let hasEnded = false
  const requireRunning = () => {
    if (hasEnded) throw new Error('a statement was run after its operation had ended')
  }
  const own: Pick<Tx, 'execute' | 'deferred'> = {
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
  try {
    return await operation(own as Tx)
  } finally {
    hasEnded = true
  }
}

/** How a group runs: what its members answer is told when it is durable. */
type BatchRunner = {
  readonly run: (tx: Tx, pending: DeferredWrites) => Promise<readonly (() => void)[]>
  readonly rerun: (member: MerchantWrite) => void | Promise<void>
}

/** Known of a query once it has run. */
const watchedTableByQuery = new Map<number, WatchedTable | null>()

function watchedTableOf(query: Query): WatchedTable | null {
  if (isRead(query) || query.projection) return null
  const known = watchedTableByQuery.get(query.number)
  if (known !== undefined) return known
  const changed = changedTable(query)
  const table = watchedTables.find((each) => each === changed) ?? null
  watchedTableByQuery.set(query.number, table)
  return table
}

function backOff(attempt: number): Promise<void> {
  const longest = Math.min(maxBackoffMs, initialBackoffMs * 2 ** attempt)
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest))
}
