import { unavailable } from '../core/errors.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { cliCommand } from '../core/package.ts'
import type { PendingMigrations, SchemaCheck } from './migration.ts'
import type { Reader, Tx } from './query.ts'
import type { TableName } from './tables.ts'

export type Database = Reader & {
  /**
   * Runs `operation` in a transaction, and resolves when the commit is durable. The operation must await only its own
   * statements, and should check its conditions before it writes. If the operation throws, only its own writes are
   * rolled back. The operation is repeated after a `ConflictError`. On PostgreSQL, the operation is also repeated after
   * a serialization failure, a deadlock or a unique violation.
   *
   * @throws DomainError UNAVAILABLE when the database cannot accept the write now (queue or disk full, locked, deadline
   * passed)
   */
  readonly write: <Result>(operation: (tx: Tx) => MaybePromise<Result>, options?: WriteOptions) => Promise<Result>
  /**
   * Servers call `requireQueueSpace` before any work for a request that writes, so that rejecting the request is cheap
   * (load shedding). Starts a batch of SQLite's writer if the batch is overdue.
   *
   * @throws DomainError UNAVAILABLE when SQLite's write queue is full
   */
  readonly requireQueueSpace: () => void
  /** The callback runs before each batch of SQLite's writer, because a batch blocks the event loop until the commit. */
  readonly onBeforeBatch: (call: () => void) => void
  /**
   * Durably makes this process the only writer of a SQLite file. After `takeOver`, the previous writer can no longer
   * commit. `takeOver` is called after the port is open and before the first response.
   *
   * @param onTakenOver called once, when another process becomes the writer. Later writes by this process are rejected,
   * and this process should exit.
   */
  readonly takeOver: (onTakenOver: () => void) => void
  /**
   * The callback must await only its own statements. With `mayTakeLong`, the callback may scan whole tables. With
   * `mayTakeLong`, PostgreSQL uses no indexes and no statement timeout.
   */
  readonly snapshot: <Result>(
    read: (db: Reader) => MaybePromise<Result>,
    options?: { readonly mayTakeLong?: boolean },
  ) => Promise<Result>
  readonly refresh: () => void
  /** Connects to the current primary, so that later reads do not use a former primary. */
  readonly findPrimary: () => Promise<void>
  /**
   * Returns a number that changes when any process commits a change to `table`. The number is `null` on PostgreSQL,
   * because reading it would need a round trip.
   */
  readonly tableVersion: (table: TableName) => number | null
  /**
   * Calls `call` soon after any process has changed `table`, and sometimes without a change.
   *
   * @returns a function that stops watching
   */
  readonly watch: (table: WatchedTable, call: () => void) => () => void
  readonly ping: () => Promise<void>
  /**
   * Writes a snapshot durably to a new file. The database can be in use.
   *
   * @throws Error with advice when the file exists, or the copy fails or is incomplete
   */
  readonly backup: (path: string, onProgress?: OnProgress) => Promise<void>
  readonly selfCheck: () => Promise<SelfCheck>
  readonly checkSchema: () => Promise<SchemaCheck>
  readonly statistics: () => DatabaseStatistics
  readonly close: () => Promise<void>
}

export const watchedTables = ['events', 'trustedDocuments'] as const
export type WatchedTable = (typeof watchedTables)[number]

export const takenOverExitCode = 3

export type WriteOptions = {
  /**
   * `merchantId` is set if the operation belongs to one merchant. Operations of one merchant can share a transaction.
   */
  readonly merchantId?: string
  readonly batchable?: Batchable
  /**
   * `deadlineMs` is a time of the clock `monotonicNowMs`. The operation must not begin after the deadline. The default
   * deadline is `writeTimeoutMs` from now.
   */
  readonly deadlineMs?: number
  /**
   * `onCommitted` is called after the COMMIT of the operation's batch, before any caller gets a result. `onCommitted`
   * is also called if the operation itself was rejected.
   */
  readonly onCommitted?: OnCommitted
}

/**
 * A batchable operation can run concurrently with other operations, of any merchant, in one transaction. All batchable
 * operations of a merchant must first lock the same value (`DeferredValues.lock`), and must not wait for other locks. A
 * batchable operation must decide whether to reject before it changes anything.
 *
 * Operations of one merchant with the same `conflictKey` are never in one batch, because they would not see each
 * other's rows.
 */
export type Batchable = { readonly conflictKey: string | null }

export function withDeadline(db: Database, deadlineMs: number): Database {
  return { ...db, write: (operation, options) => db.write(operation, { ...options, deadlineMs }) }
}

/**
 * Reads the latest number of a sequence. If the caller has seen a higher number, the server may be a former primary
 * that lacks the latest commits. If `seen` is higher than the latest number, the function finds the current primary and
 * reads again.
 */
export async function readHighWaterMark(
  db: Partial<Pick<Database, 'findPrimary'>>,
  seen: number,
  readLatest: () => Promise<number>,
): Promise<number> {
  const latest = await readLatest()
  if (seen <= latest) return latest
  await db.findPrimary?.()
  return readLatest()
}

export type SelfCheck = { readonly errors: readonly string[]; readonly unchecked: string | null }

export type DatabaseStatistics = { readonly writes: number; readonly commits: number; readonly queued: number }

export type CommittedBatch = { readonly writes: number; readonly seconds: number }
export type OnCommitted = (batch: CommittedBatch) => void

/** A concurrent transaction has changed a row that the operation depends on. Impossible on SQLite. */
export class ConflictError extends Error {}

/** The database is temporarily unavailable, and can be opened later. Nothing was changed. */
export class TemporarilyUnavailableError extends Error {}

/** Creates a database that rejects every call with UNAVAILABLE. */
export function unavailableDatabase(): Database {
  const reject = async () => {
    throw unavailable('The service cannot open its database yet.')
  }
  return {
    execute: reject,
    write: reject,
    requireQueueSpace: () => {},
    onBeforeBatch: () => {},
    takeOver: () => {},
    snapshot: reject,
    refresh: () => {},
    findPrimary: async () => {},
    tableVersion: () => null,
    watch: () => () => {},
    ping: reject,
    backup: reject,
    selfCheck: reject,
    checkSchema: reject,
    statistics: () => ({ writes: 0, commits: 0, queued: 0 }),
    close: async () => {},
  }
}

export type OnProgress = (label: string, done: number, total: number) => void

export type DatabaseOptions = {
  readonly url: string
  /** The database at the URL must exist, so that a typing error in the URL does not create an empty database. */
  readonly mustExist?: boolean
  /** Without `canCreateFolder`, the folder of a new SQLite file must exist. */
  readonly canCreateFolder?: boolean
  /** Rejects a server whose settings can lose acknowledged commits. By default, such a server only causes a warning. */
  readonly mustBeDurable?: boolean
  readonly isReadOnly?: boolean
  /**
   * `onFatal` is called when the process must exit, because the outcome of a commit is unknown or a commit callback has
   * thrown.
   */
  readonly onFatal: (error: Error) => void
  /** `onStopped` is called once when the database files were removed or replaced. Later queries are rejected. */
  readonly onStopped?: ((error: Error) => void) | undefined
  /**
   * `beforeMigrating` is called before an existing database is migrated. If `beforeMigrating` throws, the database
   * stays unchanged.
   */
  readonly beforeMigrating?: ((pending: PendingMigrations) => MaybePromise<void>) | undefined
  readonly onMigrating?: OnProgress | undefined
  readonly onCommitted?: OnCommitted | undefined
  readonly onWarning?: ((message: string) => void) | undefined
}

export type EngineOptions = Omit<DatabaseOptions, 'url' | 'isReadOnly'>

export type InspectedDatabase = {
  readonly db: Reader
  readonly state: EngineState
  /** All migrations must be applied. */
  readonly checkSchema: () => Promise<SchemaCheck>
  readonly close: () => Promise<void>
}

export type EngineState = {
  readonly version: string
  readonly settings: readonly EngineSetting[]
  readonly pendingMigrations: readonly string[]
  readonly unknownMigration: string | undefined
  /** The clock skew is positive if the server's clock is ahead of this machine's clock. */
  readonly clockSkewMs: number | null
}

export type EngineSetting = { readonly name: string; readonly value: string; readonly advice: string | null }

export type RestoreOptions = {
  readonly url: string
  readonly backup: string
  /** The replaced database is kept under a name that contains `now`. */
  readonly canReplace: boolean
  readonly now: number
  /**
   * `inspect` is called with the URL of a copy of the backup, and may migrate the copy. If `inspect` throws, the
   * restore is cancelled.
   */
  readonly inspect: (url: string) => Promise<void>
  readonly onProgress?: OnProgress
}

/** `file` and `kept` are paths of files, or names of databases on a server. */
export type RestoreResult = { readonly file: string; readonly kept: string | null }

export const missingDatabaseAdvice = `DATABASE_URL must name an existing database; to create a new one, run \`${cliCommand} migrate\``

export function isSingleWriter(url: string): boolean {
  return url.startsWith('sqlite:')
}
