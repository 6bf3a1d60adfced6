import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { Database } from '../database.ts'
import type { Reader } from '../query.ts'
import type { PostgresPool } from './pool.ts'
import type { BoundQuery } from './postgres-connection.ts'
import { isConnectionLost, isConnectionUnusable, unavailableIfTransient } from './postgres-errors.ts'
import { openTransaction } from './transaction.ts'

export type PostgresReader = Pick<Database, 'execute' | 'snapshot'>

type QueuedRead = BoundQuery & { readonly resolve: (rows: never[]) => void; readonly reject: (error: unknown) => void }

/**
 * All queries of a round trip get their results together, so `maxReadsPerRoundTrip` limits the latency of each query.
 */
const maxReadsPerRoundTrip = 16

/**
 * Queries of one merchant in one event-loop iteration share a connection and a round trip. If the connection is lost,
 * the queries are retried once on another connection.
 */
export function postgresReader(pool: PostgresPool): PostgresReader {
  let queues = new Map<unknown, QueuedRead[]>()

  function execute<Result>(query: BoundQuery['query'], params: object): Promise<Result[]> {
    return new Promise<Result[]>((resolve, reject) => {
      if (queues.size === 0) setImmediate(sendQueued)
      const read = { query, params: params as BoundQuery['params'], resolve, reject }
      const merchantId = read.params.merchantId ?? null
      const queue = queues.get(merchantId)
      if (queue) queue.push(read)
      else queues.set(merchantId, [read])
    })
  }

  function sendQueued(): void {
    const sent = queues
    queues = new Map()
    for (const reads of sent.values()) {
      for (let i = 0; i < reads.length; i += maxReadsPerRoundTrip) settleReads(reads.slice(i, i + maxReadsPerRoundTrip))
    }
  }

  async function settleReads(reads: readonly QueuedRead[], isRetry = false): Promise<void> {
    try {
      const rows = await run(reads)
      for (const [i, { resolve }] of reads.entries()) resolve(rows[i] as never[])
    } catch (error) {
      // One failed query fails all queries of the round trip, so each query is run again alone.
      if (reads.length > 1) for (const read of reads) settleReads([read])
      else if (isConnectionLost(error) && !isRetry) settleReads(reads, true)
      else reads[0]?.reject(unavailableIfTransient(error))
    }
  }

  async function run(reads: readonly BoundQuery[]): Promise<unknown[][]> {
    const connection = await pool.acquire()
    try {
      const results = await connection.send(reads)
      connection.release()
      return results.map(({ rows }) => rows)
    } catch (error) {
      if (isConnectionUnusable(error)) connection.destroy()
      else connection.release()
      throw error
    }
  }

  async function snapshot<Result>(
    read: (db: Reader) => MaybePromise<Result>,
    { mayTakeLong = false } = {},
  ): Promise<Result> {
    const transaction = openTransaction(pool, mayTakeLong ? ['beginSnapshot', 'fullScan'] : ['beginSnapshot'])
    try {
      const result = await read({ execute: transaction.execute })
      transaction.commit().catch(transaction.rollBack)
      return result
    } catch (error) {
      throw unavailableIfTransient(await transaction.rollBack(error))
    }
  }

  return { execute, snapshot }
}
