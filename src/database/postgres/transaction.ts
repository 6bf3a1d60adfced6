import { DomainError, unknownOutcome } from '../../core/errors.ts'
import type { Query, Reader } from '../query.ts'
import { isRead, returnsRows } from '../query.ts'
import { sharedQueryCache } from '../shared-query-cache.ts'
import type { StepResult as BatchAnswer } from './pipeline.ts'
import type { PooledConnection, PostgresPool } from './pool.ts'
import type { BoundQuery, ControlStatement } from './postgres-connection.ts'
import { isConnectionLost, isConnectionUnusable } from './postgres-errors.ts'

/** A transaction that begins with its first statement. */
export type Transaction = Reader & {
  /**
   * Sends what is left and commits. Synchronous standbys have what it read as well as what it wrote: an answer that is given
   * again, because it is there already, is one that may not get lost.
   *
   * @throws Refusal UNAVAILABLE where nobody knows whether it is there, or will be after a failover
   */
  readonly commit: () => Promise<void>
  /** Undoes everything; answers why: the failure of a statement, whatever the operation made of it, else `error`. */
  readonly rollBack: (error: unknown) => Promise<unknown>
}

type QueuedStatement = BoundQuery & {
  /** Whether somebody waits for it, and it can't be put off. */
  readonly isAwaited: boolean
  readonly resolve: (rows: never[]) => void
  readonly reject: (error: unknown) => void
}

/** Statements that wait at most to be sent with what follows them. */
const maxUnsentStatements = 500

/**
 * Opens a transaction that takes few round trips.
 *
 * What an operation asks for at the same time is sent together, BEGIN with the first of it. A statement that writes and
 * answers no row is answered at once and sent with whatever comes next, at the latest with COMMIT: nobody could do
 * anything with its answer but wait for it. If it fails, so does the transaction.
 */
export function openTransaction(pool: PostgresPool, begin: readonly ControlStatement[]): Transaction {
  let lent: PooledConnection | null = null
  let waiting: QueuedStatement[] = []
  let sending: Promise<void> | null = null
  let failure: { readonly error: unknown } | null = null
  let isOver = false
  let hasWritten = false
  // Others may change what all share while the transaction runs: that holds from the next one on.
  const shared = sharedQueryCache<Promise<unknown[]>>()

  async function execute<Result>(query: Query, params: object): Promise<Result[]> {
    if (isOver) throw new Error('a statement was run after its operation had ended')
    if (failure) throw failure.error
    shared.clearIfChangedBy(query)
    if (query.isShared) return shared.getOrRun(query, params, () => run(query, params)) as Promise<Result[]>
    return run(query, params)
  }

  async function run<Result>(query: Query, params: object): Promise<Result[]> {
    const call = { query, params: params as Record<string, unknown> }
    if (!isRead(query)) hasWritten = true
    if (!producesRows(query) && waiting.length < maxUnsentStatements) {
      waiting.push({ ...call, isAwaited: false, resolve: () => {}, reject: () => {} })
      return []
    }
    return new Promise<Result[]>((resolve, reject) => {
      waiting.push({ ...call, isAwaited: true, resolve, reject })
      sending ??= sendQueued()
    })
  }

  async function sendQueued(): Promise<void> {
    do {
      // The operation goes on by microtasks until it waits for its statements: by then all that it asks for is here.
      await new Promise((resolve) => setImmediate(resolve))
      // Whoever waits for what failed has been told.
      await send().catch(() => {})
    } while (waiting.some(({ isAwaited }) => isAwaited))
    sending = null
  }

  async function send(last: ControlStatement[] = []): Promise<BatchAnswer | undefined> {
    const calls = waiting
    waiting = []
    try {
      if (failure) throw failure.error
      const first = lent === null ? begin : []
      lent ??= await pool.acquire()
      const answers = await lent.send([...first, ...calls, ...last], { mayTakeLong: begin.includes('readAll') })
      for (const [i, { resolve }] of calls.entries()) resolve((answers[i + first.length]?.rows ?? []) as never[])
      return answers.at(-1)
    } catch (error) {
      failure ??= { error }
      for (const { reject } of calls) reject(error)
      throw error
    }
  }

  /** Waits until nothing is on its way; what was asked for in the last moment is sent after what went before. */
  async function waitUntilSent(): Promise<void> {
    while (sending) await sending
  }

  async function commit(): Promise<void> {
    await waitUntilSent()
    isOver = true
    if (failure) throw failure.error
    if (lent === null && waiting.length === 0) return
    const ended = await send(hasOnlyRead() ? ['replicate', 'commit'] : ['commit']).catch((error) => {
      throw isConnectionLost(error) ? unknownOutcome(error) : error
    })
    if (ended?.command !== 'COMMIT') throw new Error(`the transaction was ended by ${ended?.command}`)
    const ending = lent
    lent = null
    if (!ended.hasWarning) return ending?.release()
    ending?.destroy()
    throw unknownOutcome(new Error('the wait for a synchronous standby was cancelled'))
  }

  /** Whether its answer may rest on nothing but what others committed. */
  function hasOnlyRead(): boolean {
    return begin.includes('begin') && !hasWritten
  }

  async function rollBack(error: unknown): Promise<unknown> {
    isOver = true
    await waitUntilSent()
    const left = lent
    lent = null
    if (left !== null && isConnectionUnusable(failure?.error)) left.destroy()
    else await left?.send(['rollback']).then(left.release, left.destroy)
    return failure && !(error instanceof DomainError && error.code === 'UNAVAILABLE') ? failure.error : error
  }

  return { execute, commit, rollBack }
}

/** Whether anyone learns something from running the query. */
function producesRows(query: Query): boolean {
  const { node } = query
  return node.kind === 'SelectQueryNode' || node.kind === 'RawNode' || returnsRows(query)
}
