import { resolve } from 'node:path'
import { migrations } from '../../db/migrations/index.ts'
import type { MaybePromise } from '../../src/core/maybe-promise.ts'
import type { Database } from '../../src/database/database.ts'
import { deferredWrites } from '../../src/database/group-commit.ts'
import type { Query, Tx } from '../../src/database/query.ts'
import { migrateSqlite } from '../../src/database/sqlite/migrate-sqlite.ts'
import { openConnection } from '../../src/database/sqlite/sqlite-connection.ts'
import { sqliteReader } from '../../src/database/sqlite/sqlite-reader.ts'

/**
 * The baseline for the group commit: the same connections and durability, with one transaction per operation, in
 * sequence.
 */
export function openCommittingAlone(path: string): Database {
  const writing = openConnection(resolve(path), { isReadOnly: false })
  migrateSqlite(writing.raw, migrations)
  const reading = openConnection(resolve(path), { isReadOnly: true })
  const reader = sqliteReader(reading, { writing: null, requireFiles: () => {} })
  const [begin, commit, rollback] = ['begin immediate', 'commit', 'rollback'].map((sql) => writing.raw.prepare(sql))
  const execute = async (query: Query, params: object) => writing.run(query, params)
  let commits = 0
  let last: Promise<unknown> = Promise.resolve()

  async function run<Result>(operation: (tx: Tx) => MaybePromise<Result>): Promise<Result> {
    begin?.run()
    const pending = deferredWrites()
    const tx = { execute, pending } as unknown as Tx
    try {
      const result = await operation(tx)
      await pending.store(tx)
      commit?.run()
      commits++
      reader.refresh()
      return result
    } catch (error) {
      if (writing.raw.inTransaction) rollback?.run()
      throw error
    }
  }

  return {
    execute: reader.execute,
    snapshot: reader.snapshot,
    write: (operation) => {
      const result = last.then(() => run(operation))
      last = result.catch(() => {})
      return result
    },
    requireQueueSpace: () => {},
    onBeforeBatch: () => {},
    takeOver: () => {},
    statistics: () => ({ writes: commits, commits, queued: 0 }),
    refresh: reader.refresh,
    findPrimary: async () => {},
    tableVersion: reader.version,
    watch: () => () => {},
    ping: async () => {},
    backup: async () => {},
    selfCheck: async () => ({ errors: [], unchecked: null }),
    checkSchema: async () => ({ differences: [], notices: [], unchecked: null }),
    close: async () => {
      await last
      reader.refresh()
      reading.raw.close()
      writing.raw.close()
    },
  }
}
