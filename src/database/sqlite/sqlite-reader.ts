import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { Reader } from '../query.ts'
import type { TableName } from '../tables.ts'
import type { ChangedTable, SqliteConnection } from './sqlite-connection.ts'

/** The read side of a SQLite file. */
export type SqliteReader = Reader & {
  /** Runs `read` in one read transaction. */
  readonly snapshot: <Result>(read: (db: Reader) => MaybePromise<Result>) => Promise<Result>
  /** Has what is read next see what has been committed since. */
  readonly refresh: () => void
  /** Told of each commit of this process: whoever it answers must read what it wrote. */
  readonly noteCommit: (changed: ReadonlySet<ChangedTable>) => void
  /** See `Database.version`. */
  readonly version: (table: TableName) => number
}

/**
 * Reads on a read-only connection, with one read transaction for each turn of the event loop.
 *
 * A statement inside an open transaction costs a quarter of one that opens its own, and a page and its total come from
 * the same snapshot. The transaction ends with the turn, so it neither serves stale rows nor holds up a checkpoint.
 *
 * @param writing the connection that this process writes by, if it does
 * @param requireFiles throws when what would be read may not be what is stored; asked before each transaction
 */
export function sqliteReader(
  connection: SqliteConnection,
  { writing, requireFiles }: { writing: SqliteConnection | null; requireFiles: () => void },
): SqliteReader {
  const begin = connection.raw.prepare('begin')
  // Ending by ROLLBACK needs no I/O, so it works even after a read has failed and closed the transaction by itself.
  const end = connection.raw.prepare('rollback')
  // It grows with every commit but those of the connection that asks: what this process commits is counted by table.
  const dataVersion = (writing ?? connection).raw.prepare('pragma data_version').pluck()
  const changesHere = new Map<ChangedTable, number>()
  let isOpen = false
  let ended = 0
  let latestVersion = 0
  let failures = 0

  function openTransaction(): void {
    if (isOpen) return
    requireFiles()
    // Before the transaction begins: what is read in it may be newer than this says, but never older.
    readDataVersion()
    begin.run()
    isOpen = true
    setImmediate(refresh)
  }

  function refresh(): void {
    if (!isOpen) return
    isOpen = false
    ended++
    if (connection.raw.inTransaction) end.run()
  }

  function commitCountOf(what: ChangedTable): number {
    return changesHere.get(what) ?? 0
  }

  /** Neither number ever falls, and one has grown after each commit that is not counted by table. */
  function readDataVersion(): void {
    try {
      latestVersion = dataVersion.get() as number
    } catch {
      // Another process holds the file just now, so there may have been one.
      failures++
    }
  }

  function execute<Result>(query: Parameters<Reader['execute']>[0], params: object): Result[] {
    openTransaction()
    return connection.run(query, params) as Result[]
  }

  return {
    refresh,
    execute,
    snapshot: async (read) => {
      for (let tries = 1; ; tries++) {
        const endedBefore = ended
        const answer = read({ execute })
        const result = answer instanceof Promise ? await answer : answer
        // A group that was due may have been stored in between.
        if (ended === endedBefore) return result
        if (tries === maxSnapshotAttempts) throw new Error('a snapshot did not stay within a turn of the event loop')
      }
    },
    noteCommit: (changed) => {
      for (const what of changed) changesHere.set(what, commitCountOf(what) + 1)
      refresh()
    },
    version: (table) => {
      openTransaction()
      return latestVersion + failures + commitCountOf(table) + commitCountOf('anything')
    },
  }
}

/** A turn stores few groups, and reading takes less than storing one. */
const maxSnapshotAttempts = 100
