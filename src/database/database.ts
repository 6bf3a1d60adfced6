import { unavailable } from '../core/errors.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { cliCommand } from '../core/package.ts'
import type { PendingMigrations, SchemaCheck } from './migration.ts'
import type { Reader, Tx } from './query.ts'
import type { TableName } from './tables.ts'

/** An open database. Only `src/database` knows which engine it is. */
export type Database = Reader & {
  /**
   * Runs `operation` in a transaction and resolves once it is durable.
   *
   * The operation may await nothing but its own statements, and should check before it writes. If it throws, only its own
   * writes are rolled back. It may run again: after a `ConflictError`, and on PostgreSQL after a serialization failure, a
   * deadlock or a unique violation, because by then it may find the row that it missed.
   *
   * @throws DomainError UNAVAILABLE when the database can't take it now (queue or disk full, locked, past its deadline)
   */
  readonly write: <Result>(operation: (tx: Tx) => MaybePromise<Result>, options?: WriteOptions) => Promise<Result>
  /**
   * Sheds load: called before a request that will write does any work, so that rejecting it is cheap. Also starts an overdue
   * batch of SQLite's writer.
   *
   * @throws DomainError UNAVAILABLE when the write queue is full; PostgreSQL queues per merchant and never throws here
   */
  readonly requireQueueSpace: () => void
  /** Registers a callback that runs before each batch that blocks the event loop until it is committed (SQLite). */
  readonly onBeforeBatch: (call: () => void) => void
  /**
   * Makes this process the writer of a single-writer engine, durably: the previous writer commits nothing from now on. Call it
   * once the port is open and before the first response.
   *
   * @param onTakenOver called once, when a later process takes over; all writes are rejected from then on, and the process
   *   should end
   */
  readonly takeOver: (onTakenOver: () => void) => void
  /**
   * Runs `read` on one snapshot; it may await nothing but its own statements. With `mayTakeLong` it may scan whole tables, on
   * PostgreSQL without indexes and without a statement timeout.
   */
  readonly snapshot: <Result>(
    read: (db: Reader) => MaybePromise<Result>,
    options?: { readonly mayTakeLong?: boolean },
  ) => Promise<Result>
  /** Ends the current read transaction, so that the next read sees everything that other processes have committed. */
  readonly refresh: () => void
  /**
   * Looks for the primary among several servers, so that later reads do not come from a server that was replaced. If none is
   * found, later reads throw.
   */
  readonly findPrimary: () => Promise<void>
  /**
   * Returns a number that changes whenever a process commits a change to `table`; `null` on PostgreSQL, which would need a
   * round trip.
   */
  readonly tableVersion: (table: TableName) => number | null
  /**
   * Calls `call` soon after any process may have changed rows of `table`; reads then see the change. Spurious calls happen.
   *
   * @returns a function that stops watching
   */
  readonly watch: (table: WatchedTable, call: () => void) => () => void
  /** Reads a row. @throws when the database can't be read */
  readonly ping: () => Promise<void>
  /**
   * Copies one snapshot of the whole database durably to a new file, while it is in use.
   *
   * @throws with advice when the file exists, or the copy can't be made or is incomplete
   */
  readonly backup: (path: string, onProgress?: OnProgress) => Promise<void>
  /** Checks the integrity of the stored data with the engine's own tools. Reads everything. */
  readonly selfCheck: () => Promise<SelfCheck>
  /** Compares the schema with the one that the migrations create. */
  readonly checkSchema: () => Promise<SchemaCheck>
  readonly statistics: () => DatabaseStatistics
  /** Waits for the accepted writes, then closes. */
  readonly close: () => Promise<void>
}

/** The tables that may be watched: PostgreSQL sends a NOTIFY for each change to one of them. */
export const watchedTables = ['events', 'trustedDocuments'] as const
export type WatchedTable = (typeof watchedTables)[number]

/** Exit code of a process whose database another process has taken over. */
export const takenOverExitCode = 3

export type WriteOptions = {
  /** The only merchant whose rows the operation writes. Operations of one merchant may share a transaction, in order. */
  readonly merchantId?: string
  readonly batchable?: Batchable
  /** On `monotonicNowMs`; the operation does not begin after it. The default is `writeTimeoutMs` from now. */
  readonly deadlineMs?: number
  /** Observes the COMMIT of its batch, before any caller is answered; also when the operation itself was rejected. */
  readonly onCommitted?: OnCommitted
}

/**
 * Declares that an operation may run concurrently with other batchable operations, of any merchant, in one transaction. Such an
 * operation first locks the same value of its merchant as the others (`DeferredValues.lock`), relies on no other lock, and
 * changes nothing before it knows that it will not be rejected.
 *
 * Two writes of a merchant with the same `conflictKey` are never in one batch, where neither would see the other's rows.
 */
export type Batchable = { readonly conflictKey: string | null }

/** Returns the database with a deadline for all writes: each begins before it or not at all. */
export function withDeadline(db: Database, deadlineMs: number): Database {
  return { ...db, write: (operation, options) => db.write(operation, { ...options, deadlineMs }) }
}

/**
 * Returns the latest number of a sequence, for a caller that has already seen number `seen`. If that is later than what is known
 * here, looks for the primary and reads again: a server that was cut off and replaced lacks the latest commits.
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

/** Contradictions within the stored data; `unchecked` is the reason why a part could not be checked, else `null`. */
export type SelfCheck = { readonly errors: readonly string[]; readonly unchecked: string | null }

/** Counts since opening: operations that committed, and the transactions that they shared; `queued` have not begun. */
export type DatabaseStatistics = { readonly writes: number; readonly commits: number; readonly queued: number }

/** A durable commit: how many operations shared it, and how long the COMMIT took. */
export type CommittedBatch = { readonly writes: number; readonly seconds: number }
export type OnCommitted = (batch: CommittedBatch) => void

/** Thrown by an operation that lost a race to another writer. Impossible with a single writer, as on SQLite. */
export class ConflictError extends Error {}

/** Thrown when a database can't be opened now but may be later; nothing was changed. */
export class TemporarilyUnavailableError extends Error {}

/** A placeholder for a database that is not open yet: rejects everything with UNAVAILABLE. */
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

/** Reports the progress of a long task: the current step, and how much of how much is done. */
export type OnProgress = (label: string, done: number, total: number) => void

export type DatabaseOptions = {
  readonly url: string
  /** Refuses to create a database, so that a mistyped URL does not open an empty one. */
  readonly mustExist?: boolean
  /** Creates the folder of a new SQLite file too; otherwise it must exist. */
  readonly canCreateFolder?: boolean
  /** Refuses a server whose settings can lose acknowledged commits, instead of warning. */
  readonly mustBeDurable?: boolean
  /** Opens an existing, fully migrated SQLite database without the ability to write. */
  readonly isReadOnly?: boolean
  /** Called when the process must end: the outcome of a commit is unknown, or an observer of commits has thrown. */
  readonly onFatal: (error: Error) => void
  /** Called once, when the database files were removed or replaced; everything is rejected from then on. */
  readonly onStopped?: ((error: Error) => void) | undefined
  /** Called before an existing database is migrated; if it throws, the database stays as it is. */
  readonly beforeMigrating?: ((pending: PendingMigrations) => MaybePromise<void>) | undefined
  /** Called before each migration, and after the last. */
  readonly onMigrating?: OnProgress | undefined
  /** Observes each commit, for metrics. */
  readonly onCommitted?: OnCommitted | undefined
  /** Called with what an operator should fix, although the database works. */
  readonly onWarning?: ((message: string) => void) | undefined
}

export type EngineOptions = Omit<DatabaseOptions, 'url' | 'isReadOnly'>

/** A database opened for inspection, whichever migrations it has. */
export type InspectedDatabase = {
  readonly db: Reader
  readonly state: EngineState
  /** As that of `Database`; only for a fully migrated one. */
  readonly checkSchema: () => Promise<SchemaCheck>
  readonly close: () => Promise<void>
}

/** The engine's settings, and its migrations compared with those of this version. */
export type EngineState = {
  /** Name and version of the engine. */
  readonly version: string
  readonly settings: readonly EngineSetting[]
  readonly pendingMigrations: readonly string[]
  /** An applied migration that this version does not know. */
  readonly unknownMigration: string | undefined
  /** How far the server's clock is ahead of this machine's; `null` for SQLite. */
  readonly clockSkewMs: number | null
}

/** A setting as read from the engine; `advice` says what to do if it risks acknowledged data or will not work. */
export type EngineSetting = { readonly name: string; readonly value: string; readonly advice: string | null }

export type RestoreOptions = {
  /** The database to replace. */
  readonly url: string
  /** Path of the backup, which is not changed. */
  readonly backup: string
  /** Whether an existing database may be replaced; it is kept under a dated name. */
  readonly canReplace: boolean
  /** The time in that name, in milliseconds since 1970. */
  readonly now: number
  /** Inspects a copy of the backup by its URL, and may migrate it; if it throws, the restore is cancelled. */
  readonly inspect: (url: string) => Promise<void>
  readonly onProgress?: OnProgress
}

/** Where the restored database is (a file, or a database of a server), and where the previous one is kept, if there was one. */
export type RestoreResult = { readonly file: string; readonly kept: string | null }

export const missingDatabaseAdvice = `DATABASE_URL must name an existing database; to create a new one, run \`${cliCommand} migrate\``

/** Whether a database at `url` takes writes from one process only. */
export function isSingleWriter(url: string): boolean {
  return url.startsWith('sqlite:')
}
