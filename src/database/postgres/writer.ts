import type { DatabaseStatistics } from '../database.ts'
import type { Tx } from '../query.ts'
import { isLostRace, refusalFor } from './errors.ts'
import type { PostgresPool } from './pool.ts'
import { openTransaction } from './transaction.ts'

/** How often an operation runs that loses to others each time, and how long it waits in between: at most, and at random. */
const attempts = 12
const firstPauseMs = 4
const longestPauseMs = 250

/** The write side: one transaction for each operation, run again while others win. */
export type PostgresWriter = {
  readonly write: <Result>(operation: (tx: Tx) => Promise<Result>) => Promise<Result>
  readonly statistics: () => DatabaseStatistics
}

/**
 * Runs each operation in a transaction of its own, READ COMMITTED.
 *
 * Rows are safe from each other by what the statements say: conditional updates, unique keys, and locks on rows that an
 * operation reads and then builds on. Whoever loses to another (a serialization failure, a deadlock, a unique key that is
 * taken, a `Conflict`) runs again from the start and is refused with UNAVAILABLE in the end. So is one whose connection
 * broke; where that was during COMMIT it does not run again, because it may be there.
 */
export function postgresWriter(pool: PostgresPool): PostgresWriter {
  let commits = 0

  async function run<Result>(operation: (tx: Tx) => Promise<Result>): Promise<Result> {
    const transaction = openTransaction(pool, ['begin'])
    try {
      const result = await operation({ execute: transaction.execute } as unknown as Tx)
      await transaction.commit()
      commits++
      return result
    } catch (error) {
      throw await transaction.rollBack(error)
    }
  }

  async function write<Result>(operation: (tx: Tx) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await run(operation)
      } catch (error) {
        if (!isLostRace(error) || attempt === attempts) throw refusalFor(error)
        await pause(attempt)
      }
    }
  }

  return { write, statistics: () => ({ writes: commits, commits }) }
}

function pause(attempt: number): Promise<void> {
  const longest = Math.min(longestPauseMs, firstPauseMs * 2 ** attempt)
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest))
}
