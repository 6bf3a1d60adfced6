import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { Database } from '../database.ts'
import type { Reader } from '../query.ts'
import type { PostgresPool } from './pool.ts'
import type { BoundQuery } from './postgres-connection.ts'
import { isConnectionLost, isConnectionUnusable, unavailableIfTransient } from './postgres-errors.ts'
import { openTransaction } from './transaction.ts'

/** The read side: single statements, and several that see one moment. */
export type PostgresReader = Pick<Database, 'execute' | 'snapshot'>

type QueuedRead = BoundQuery & { readonly resolve: (rows: never[]) => void; readonly reject: (error: unknown) => void }

/** Statements that share a round trip at most: the first is answered only with the last. */
const maxReadsPerRoundTrip = 16

/**
 * Reads on the pool's connections. Statements that are asked for in one turn of the event loop for the same merchant share
 * a connection and a round trip.
 *
 * A statement whose connection turns out to be broken is run once more on another: reading twice does no harm.
 */
export function postgresReader(pool: PostgresPool): PostgresReader {
  let waiting = new Map<unknown, QueuedRead[]>()

  function execute<Result>(query: BoundQuery['query'], params: object): Promise<Result[]> {
    return new Promise<Result[]>((resolve, reject) => {
      if (waiting.size === 0) setImmediate(sendQueued)
      const call = { query, params: params as BoundQuery['params'], resolve, reject }
      const whose = call.params.merchantId ?? null
      const together = waiting.get(whose)
      if (together) together.push(call)
      else waiting.set(whose, [call])
    })
  }

  function sendQueued(): void {
    const groups = waiting
    waiting = new Map()
    for (const calls of groups.values()) {
      for (let i = 0; i < calls.length; i += maxReadsPerRoundTrip) settleReads(calls.slice(i, i + maxReadsPerRoundTrip))
    }
  }

  async function settleReads(calls: readonly QueuedRead[], isRetry = false): Promise<void> {
    try {
      const rows = await run(calls)
      for (const [i, { resolve }] of calls.entries()) resolve(rows[i] as never[])
    } catch (error) {
      // One that fails takes the others with it, though nothing is wrong with them.
      if (calls.length > 1) for (const call of calls) settleReads([call])
      else if (isConnectionLost(error) && !isRetry) settleReads(calls, true)
      else calls[0]?.reject(unavailableIfTransient(error))
    }
  }

  async function run(calls: readonly BoundQuery[]): Promise<unknown[][]> {
    const lent = await pool.acquire()
    try {
      const answers = await lent.send(calls)
      lent.release()
      return answers.map(({ rows }) => rows)
    } catch (error) {
      if (isConnectionUnusable(error)) lent.destroy()
      else lent.release()
      throw error
    }
  }

  async function snapshot<Result>(
    read: (db: Reader) => MaybePromise<Result>,
    { mayTakeLong = false } = {},
  ): Promise<Result> {
    const transaction = openTransaction(pool, mayTakeLong ? ['beginSnapshot', 'readAll'] : ['beginSnapshot'])
    try {
      const result = await read({ execute: transaction.execute })
      // Nothing of the result depends on how it ends.
      transaction.commit().catch(transaction.rollBack)
      return result
    } catch (error) {
      throw unavailableIfTransient(await transaction.rollBack(error))
    }
  }

  return { execute, snapshot }
}
