import { DomainError, unknownOutcome } from '../../core/errors.ts'
import { operationEnded } from '../group-commit.ts'
import type { Query, Reader } from '../query.ts'
import { isRead, returnsRows } from '../query.ts'
import { sharedQueryCache } from '../query-caches.ts'
import type { StepResult } from './pipeline.ts'
import type { PooledConnection, PostgresPool } from './pool.ts'
import type { BoundQuery, ControlStatement } from './postgres-connection.ts'
import { isConnectionLost, isConnectionUnusable } from './postgres-errors.ts'

/** BEGIN is sent with the first statement. */
export type Transaction = Reader & {
  /**
   * A transaction without writes also waits for the synchronous standbys. A transaction without writes may return the
   * result of an earlier write, which a failover must not lose.
   *
   * @throws DomainError UNAVAILABLE when it is unknown whether the commit is stored or would survive a failover
   */
  readonly commit: () => Promise<void>
  /**
   * Rolls back, and returns the error for the caller. If a statement has failed, returns the statement's error, even if
   * the operation caught the error.
   */
  readonly rollBack: (error: unknown) => Promise<unknown>
}

type QueuedStatement = BoundQuery & {
  /** If the operation awaits the rows, the statement must be sent immediately. */
  readonly isAwaited: boolean
  readonly resolve: (rows: never[]) => void
  readonly reject: (error: unknown) => void
}

const maxUnsentStatements = 500

/**
 * Concurrent statements of an operation are sent together. A write without RETURNING returns no rows, so its promise
 * resolves immediately. A write without RETURNING is sent later, with the next statement or with COMMIT. If the
 * deferred write fails, the transaction fails.
 */
export function openTransaction(pool: PostgresPool, begin: readonly ControlStatement[]): Transaction {
  let connection: PooledConnection | null = null
  let queue: QueuedStatement[] = []
  let sending: Promise<void> | null = null
  let failure: { readonly error: unknown } | null = null
  let isOver = false
  let hasWritten = false
  // Within a transaction, changes of shared data by other processes are not visible.
  const sharedResults = sharedQueryCache<Promise<unknown[]>>()

  async function execute<Result>(query: Query, params: object): Promise<Result[]> {
    if (isOver) throw operationEnded()
    if (failure) throw failure.error
    sharedResults.clearIfChangedBy(query)
    if (query.isShared) return sharedResults.getOrRun(query, params, () => run(query, params)) as Promise<Result[]>
    return run(query, params)
  }

  async function run<Result>(query: Query, params: object): Promise<Result[]> {
    const bound = { query, params: params as Record<string, unknown> }
    if (!isRead(query)) hasWritten = true
    if (!producesRows(query) && queue.length < maxUnsentStatements) {
      queue.push({ ...bound, isAwaited: false, resolve: () => {}, reject: () => {} })
      return []
    }
    return new Promise<Result[]>((resolve, reject) => {
      queue.push({ ...bound, isAwaited: true, resolve, reject })
      sending ??= sendQueued()
    })
  }

  async function sendQueued(): Promise<void> {
    do {
      // Waits until the operation has queued all its concurrent statements.
      await new Promise((resolve) => setImmediate(resolve))
      // An error is ignored, because the promises of the statements are rejected with the error.
      await send().catch(() => {})
    } while (queue.some(({ isAwaited }) => isAwaited))
    sending = null
  }

  async function send(last: ControlStatement[] = []): Promise<StepResult | undefined> {
    const statements = queue
    queue = []
    try {
      if (failure) throw failure.error
      const first = connection === null ? begin : []
      connection ??= await pool.acquire()
      const results = await connection.send([...first, ...statements, ...last], {
        mayTakeLong: begin.includes('fullScan'),
      })
      for (const [i, { resolve }] of statements.entries()) resolve((results[i + first.length]?.rows ?? []) as never[])
      return results.at(-1)
    } catch (error) {
      failure ??= { error }
      for (const { reject } of statements) reject(error)
      throw error
    }
  }

  async function waitUntilSent(): Promise<void> {
    while (sending) await sending
  }

  async function commit(): Promise<void> {
    await waitUntilSent()
    isOver = true
    if (failure) throw failure.error
    if (connection === null && queue.length === 0) return
    const result = await send(mustReplicate() ? ['replicate', 'commit'] : ['commit']).catch((error) => {
      throw isConnectionLost(error) ? unknownOutcome(error) : error
    })
    if (result?.command !== 'COMMIT') throw new Error(`the transaction ended with ${result?.command} instead of COMMIT`)
    const used = connection
    connection = null
    if (!result.hasWarning) return used?.release()
    used?.destroy()
    throw unknownOutcome(new Error('the wait for a synchronous standby was cancelled'))
  }

  /** The COMMIT of a transaction without writes waits for standbys only after the statement `replicate`. */
  function mustReplicate(): boolean {
    return begin.includes('begin') && !hasWritten
  }

  async function rollBack(error: unknown): Promise<unknown> {
    isOver = true
    await waitUntilSent()
    const used = connection
    connection = null
    if (used !== null && isConnectionUnusable(failure?.error)) used.destroy()
    else await used?.send(['rollback']).then(used.release, used.destroy)
    return failure && !(error instanceof DomainError && error.code === 'UNAVAILABLE') ? failure.error : error
  }

  return { execute, commit, rollBack }
}

function producesRows(query: Query): boolean {
  const { node } = query
  return node.kind === 'SelectQueryNode' || node.kind === 'RawNode' || returnsRows(query)
}
