import { unavailable } from '../core/errors.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { cliCommand } from '../core/package.ts'
import type { PendingMigrations, SchemaCheck } from './migration.ts'
import type { Reader, Tx } from './query.ts'
import type { TableName } from './tables.ts'

export type Database = Reader & {
  /**
   * Resolves when the commit is durable. The operation must await only its own statements, and should check its
   * conditions before it writes. If the operation throws, only its own writes are rolled back. The operation runs again
   * after a `ConflictError`, and on PostgreSQL after a serialization failure, a deadlock or a unique violation. A
   * repeated operation sees the other transaction's rows.
   *
   * @throws DomainError UNAVAILABLE when the database cannot accept the write now (queue or disk full, locked, deadline
   * passed)
   */
  readonly write: <Result>(operation: (tx: Tx) => MaybePromise<Result>, options?: WriteOptions) => Promise<Result>
  /**
   * Sheds load. `requireQueueSpace` is called before any work for a request that writes, so that a rejection is cheap.
   * Also starts an overdue batch of SQLite's writer.
   *
   * @throws DomainError UNAVAILABLE when SQLite's write queue is full
   */
  readonly requireQueueSpace: () => void
  /**
   * Registers a callback to run before each batch of SQLite's writer. A batch blocks the event loop until its commit.
   */
  readonly onBeforeBatch: (call: () => void) => void
  /**
   * Makes this process the only writer of a SQLite file, durably: the previous writer can no longer commit. `takeOver`
   * is called after the port is open and before the first response. @param onTakenOver called once, when a later
   * process takes over. After the takeover, all writes are rejected, and the process should exit.
   */
  readonly takeOver: (onTakenOver: () => void) => void
  /**
   * The callback must await only its own statements. With `mayTakeLong` the callback may scan whole tables; PostgreSQL
   * then uses neither indexes nor a statement timeout.
   */
  readonly snapshot: <Result>(
    read: (db: Reader) => MaybePromise<Result>,
    options?: { readonly mayTakeLong?: boolean },
  ) => Promise<Result>
  readonly refresh: () => void
  /** Searches for the current primary, so that later reads do not use a former primary. */
  readonly findPrimary: () => Promise<void>
  /**
   * Returns a number that changes when any process commits a change to `table`. Returns `null` on PostgreSQL, where
   * reading the number would need a round trip.
   */
  readonly tableVersion: (table: TableName) => number | null
  /**
   * Calls `call` soon after any process may have changed rows of `table`, and sometimes without a change.
   *
   * @returns a function that stops watching
   */
  readonly watch: (table: WatchedTable, call: () => void) => () => void
  readonly ping: () => Promise<void>
  /**
   * Writes a snapshot to a new file, durably, while the database is in use.
   *
   * @throws Error with advice when the file exists, or the copy fails or is incomplete
   */
  readonly backup: (path: string, onProgress?: OnProgress) => Promise<void>
  readonly selfCheck: () => Promise<SelfCheck>
  readonly checkSchema: () => Promise<SchemaCheck>
  readonly statistics: () => DatabaseStatistics
  /** The database closes after all accepted writes. */
  readonly close: () => Promise<void>
}

export const watchedTables = ['events', 'trustedDocuments'] as const
export type WatchedTable = (typeof watchedTables)[number]

export const takenOverExitCode = 3

export type WriteOptions = {
  /**
   * `merchantId` is set only if the operation belongs to exactly one merchant. Operations of one merchant can share a
   * transaction, in order.
   */
  readonly merchantId?: string
  readonly batchable?: Batchable
  /**
   * The operation must not begin after this time of the clock `monotonicNowMs`. The default deadline is
   * `writeTimeoutMs` from now.
   */
  readonly deadlineMs?: number
  /**
   * `onCommitted` is called after the COMMIT of the operation's batch, before any caller gets a result, even if this
   * operation was rejected.
   */
  readonly onCommitted?: OnCommitted
}

/**
 * Declares that an operation can run concurrently with other batchable operations, of any merchant, in one transaction.
 * A batchable operation must first lock the value that all such operations of its merchant lock
 * (`DeferredValues.lock`), and rely on no other lock. A batchable operation must change nothing before it knows that it
 * will not be rejected.
 *
 * Two writes of a merchant with the same `conflictKey` are never in one batch, because they would not see each other's
 * rows.
 */
export type Batchable = { readonly conflictKey: string | null }

export function withDeadline(db: Database, deadlineMs: number): Database {
  return { ...db, write: (operation, options) => db.write(operation, { ...options, deadlineMs }) }
}

/**
 * Returns the latest number of a sequence. If the caller has already seen a higher number, the server may be a former
 * primary without the latest commits. If `seen` is higher, the function searches for the primary and reads again.
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

/** An operation lost a race to another writer. A lost race cannot happen on SQLite. */
export class ConflictError extends Error {}

/** The database cannot be opened now, but may be later. Nothing was changed. */
export class TemporarilyUnavailableError extends Error {}

/** Rejects everything with UNAVAILABLE until the database is open. */
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
  /** Rejects a URL without a database, so that a typing error does not create an empty database. */
  readonly mustExist?: boolean
  /** If `canCreateFolder` is not set, the folder of a new SQLite file must exist. */
  readonly canCreateFolder?: boolean
  /** Rejects a server whose settings can lose acknowledged commits. Otherwise only warns. */
  readonly mustBeDurable?: boolean
  readonly isReadOnly?: boolean
  /**
   * `onFatal` is called when the process must exit: the outcome of a commit is unknown, or an observer of commits has
   * thrown.
   */
  readonly onFatal: (error: Error) => void
  /** `onStopped` is called once, when the database files were removed or replaced. Later queries are rejected. */
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
  /** `checkSchema` requires a fully migrated database. */
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

/** `advice` is the remedy if the value endangers acknowledged data or does not work. */
export type EngineSetting = { readonly name: string; readonly value: string; readonly advice: string | null }

export type RestoreOptions = {
  readonly url: string
  readonly backup: string
  /** A replaced database is kept under a name that contains `now`. */
  readonly canReplace: boolean
  readonly now: number
  /**
   * `inspect` is called with the URL of a copy of the backup, which it may migrate. If `inspect` throws, the restore is
   * cancelled.
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
