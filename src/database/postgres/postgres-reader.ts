import type { Database } from '../database.ts'
import type { Answer, Reader } from '../query.ts'
import type { PostgresPool } from './pool.ts'
import type { Call } from './postgres-connection.ts'
import { isConnectionLost, isOfNoMoreUse, refusalFor } from './postgres-errors.ts'
import { openTransaction } from './transaction.ts'

/** The read side: single statements, and several that see one moment. */
export type PostgresReader = Pick<Database, 'execute' | 'snapshot'>

type Waiting = Call & { readonly resolve: (rows: never[]) => void; readonly reject: (error: unknown) => void }

/** Statements that share a round trip at most: the first is answered only with the last. */
const togetherLimit = 16

/**
 * Reads on the pool's connections. Statements that are asked for in one turn of the event loop for the same merchant share
 * a connection and a round trip.
 *
 * A statement whose connection turns out to be broken is run once more on another: reading twice does no harm.
 */
export function postgresReader(pool: PostgresPool): PostgresReader {
  let waiting = new Map<unknown, Waiting[]>()

  function execute<Result>(query: Call['query'], params: object): Promise<Result[]> {
    return new Promise<Result[]>((resolve, reject) => {
      if (waiting.size === 0) setImmediate(sendWaiting)
      const call = { query, params: params as Call['params'], resolve, reject }
      const whose = call.params.merchantId ?? null
      const together = waiting.get(whose)
      if (together) together.push(call)
      else waiting.set(whose, [call])
    })
  }

  function sendWaiting(): void {
    const groups = waiting
    waiting = new Map()
    for (const calls of groups.values()) {
      for (let i = 0; i < calls.length; i += togetherLimit) answer(calls.slice(i, i + togetherLimit))
    }
  }

  async function answer(calls: readonly Waiting[], isRetry = false): Promise<void> {
    try {
      const rows = await run(calls)
      for (const [i, { resolve }] of calls.entries()) resolve(rows[i] as never[])
    } catch (error) {
      // One that fails takes the others with it, though nothing is wrong with them.
      if (calls.length > 1) for (const call of calls) answer([call])
      else if (isConnectionLost(error) && !isRetry) answer(calls, true)
      else calls[0]?.reject(refusalFor(error))
    }
  }

  async function run(calls: readonly Call[]): Promise<unknown[][]> {
    const lent = await pool.lend()
    try {
      const answers = await lent.send(calls)
      lent.giveBack()
      return answers.map(({ rows }) => rows)
    } catch (error) {
      if (isOfNoMoreUse(error)) lent.throwAway()
      else lent.giveBack()
      throw error
    }
  }

  async function snapshot<Result>(read: (db: Reader) => Answer<Result>, { mayTakeLong = false } = {}): Promise<Result> {
    const transaction = openTransaction(pool, mayTakeLong ? ['beginSnapshot', 'readAll'] : ['beginSnapshot'])
    try {
      const result = await read({ execute: transaction.execute })
      // Nothing of the result depends on how it ends.
      transaction.commit().catch(transaction.rollBack)
      return result
    } catch (error) {
      throw refusalFor(await transaction.rollBack(error))
    }
  }

  return { execute, snapshot }
}
