import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { Database } from '../database.ts'
import type { Reader } from '../query.ts'
import type { TableName } from '../tables.ts'
import type { ChangedTable, SqliteConnection } from './sqlite-connection.ts'
import { useMemory } from './sqlite-connection.ts'

export type SqliteReader = Reader & {
  readonly snapshot: Database['snapshot']
  readonly refresh: () => void
  /** `noteCommit` must be called after each commit of this process, so that callers can read their own writes. */
  readonly noteCommit: (changed: ReadonlySet<ChangedTable>) => void
  readonly version: (table: TableName) => number
}

/**
 * Runs reads on a read-only connection, in one read transaction for each event-loop iteration. A transaction for each
 * statement would cost four times as much. A longer transaction would return stale rows and delay checkpoints.
 *
 * @param writing this process's writing connection, if any
 * @param requireFiles called before each transaction; throws if the database files have changed
 */
export function sqliteReader(
  connection: SqliteConnection,
  { writing, requireFiles }: { writing: SqliteConnection | null; requireFiles: () => void },
): SqliteReader {
  const begin = connection.raw.prepare('begin')
  // ROLLBACK needs no I/O, so it works even after a failed read.
  const end = connection.raw.prepare('rollback')
  // SQLite's `data_version` increases with each commit of another connection. This process counts its own commits by
  // table.
  const dataVersion = (writing ?? connection).raw.prepare('pragma data_version').pluck()
  const ownCommits = new Map<ChangedTable, number>()
  let isOpen = false
  let transactionsEnded = 0
  let latestVersion = 0
  let failures = 0

  function openTransaction(): void {
    if (isOpen) return
    requireFiles()
    // `data_version` must be read before BEGIN, so that the rows are never older than the version.
    readDataVersion()
    begin.run()
    isOpen = true
    setImmediate(refresh)
  }

  function refresh(): void {
    if (!isOpen) return
    isOpen = false
    transactionsEnded++
    if (connection.raw.inTransaction) end.run()
  }

  function commitCountOf(table: ChangedTable): number {
    return ownCommits.get(table) ?? 0
  }

  /**
   * Increases `latestVersion` or `failures` after each commit of another process. `latestVersion` and `failures` never
   * decrease.
   */
  function readDataVersion(): void {
    try {
      latestVersion = dataVersion.get() as number
    } catch {
      // If another process has locked the file, the other process may have committed.
      failures++
    }
  }

  function execute<Result>(query: Parameters<Reader['execute']>[0], params: object): Result[] {
    openTransaction()
    return connection.run(query, params) as Result[]
  }

  async function snapshot<Result>(read: (db: Reader) => MaybePromise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const endedBefore = transactionsEnded
      const answer = read({ execute })
      const result = answer instanceof Promise ? await answer : answer
      // A commit by the writer ends the read transaction, so the snapshot must be read again.
      if (transactionsEnded === endedBefore) return result
      if (attempt === maxSnapshotAttempts) throw new Error('a snapshot must end within one event-loop iteration')
    }
  }

  return {
    refresh,
    execute,
    snapshot: async (read, { mayTakeLong = false } = {}) => {
      if (!mayTakeLong) return snapshot(read)
      useMemory(connection.raw, 'scans')
      try {
        return await snapshot(read)
      } finally {
        useMemory(connection.raw, 'requests')
      }
    },
    noteCommit: (changed) => {
      for (const table of changed) ownCommits.set(table, commitCountOf(table) + 1)
      refresh()
    },
    version: (table) => {
      openTransaction()
      return latestVersion + failures + commitCountOf(table) + commitCountOf('anything')
    },
  }
}

const maxSnapshotAttempts = 100

const pollIntervalMs = 100

export type CommitWatch = {
  readonly watch: (table: TableName, call: () => void) => () => void
  readonly pollSoon: () => void
  readonly close: () => void
}

type CommitWatcher = { readonly table: TableName; readonly call: () => void; seenVersion: number | null }

export function commitWatch(version: (table: TableName) => number): CommitWatch {
  const watchers = new Set<CommitWatcher>()
  let timer: NodeJS.Timeout | undefined
  let nextPoll: NodeJS.Immediate | undefined

  function poll(): void {
    for (const watcher of watchers) {
      const current = readVersion(watcher.table)
      if (current === watcher.seenVersion) continue
      watcher.seenVersion = current
      watcher.call()
    }
  }

  /**
   * Returns `null` if the file cannot be read. `null` counts as a change, so that the watcher reads the file and
   * reports the error.
   */
  function readVersion(table: TableName): number | null {
    try {
      return version(table)
    } catch {
      return null
    }
  }

  function close(): void {
    watchers.clear()
    clearInterval(timer)
    timer = undefined
    clearImmediate(nextPoll)
    nextPoll = undefined
  }

  return {
    watch: (table, call) => {
      const watcher = { table, call, seenVersion: readVersion(table) }
      watchers.add(watcher)
      timer ??= setInterval(poll, pollIntervalMs).unref()
      return () => {
        watchers.delete(watcher)
        if (watchers.size === 0) close()
      }
    },
    pollSoon: () => {
      if (watchers.size === 0 || nextPoll) return
      // `setImmediate` delays the poll until the callers of the writer have their results.
      nextPoll = setImmediate(() => {
        nextPoll = undefined
        poll()
      })
    },
    close,
  }
}
