import { unavailable } from '../core/errors.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import type { PendingMigrations } from './migration.ts'
import type { Reader, Tx } from './query.ts'
import type { SchemaCheck } from './schema-check.ts'
import type { TableName } from './tables.ts'

/** An open database: reads at once, writes through `write`. Which engine it is shows nowhere else. */
export type Database = Reader & {
  /**
   * Runs `operation` in a transaction of its own and answers only when that is durable.
   *
   * The operation may wait for nothing but its own statements and should check before it writes; whatever it throws
   * rolls it back alone. It may run again: after a `Conflict`, and on an engine with many writers after a serialization
   * failure, a deadlock or a unique violation, because by then it may find what it did not find before.
   *
   * @throws Refusal UNAVAILABLE when the store cannot take it now (queue or disk full, locked, waited for too long)
   */
  readonly write: <Result>(operation: (tx: Tx) => MaybePromise<Result>, options?: WriteOptions) => Promise<Result>
  /**
   * Asked before anything is done for a request that will write, so that one more than can wait costs little.
   *
   * @throws Refusal UNAVAILABLE when `write` would refuse whatever it were given, as far as the engine knows
   */
  readonly requireQueueSpace: () => void
  /** Has `call` called whenever operations are about to run that let nothing else run until they are stored. */
  readonly onBeforeBatch: (call: () => void) => void
  /**
   * Makes this process the one that writes, durably, where an engine takes one writer only: whoever was it before commits
   * nothing from now on. For a service, when it has its port and before it answers anything.
   *
   * @param onTakenOver called once, when another has done the same; everything that is to be written is refused from then
   *   on, and the process should end
   */
  readonly takeOver: (onTakenOver: () => void) => void
  /**
   * Runs `read`, which waits for nothing but its statements, so that all of them see the same moment. One that `mayTakeLong`
   * reads whole tables, and does so without their indexes where the engine can be told to.
   */
  readonly snapshot: <Result>(
    read: (db: Reader) => MaybePromise<Result>,
    options?: { readonly mayTakeLong?: boolean },
  ) => Promise<Result>
  /** Has what is read next see all that other processes have committed by now. */
  readonly refresh: () => void
  /**
   * Looks which server takes writes, where there are several: what is read next is not of one whose place another has taken.
   * Where none is found, what is read next says so.
   */
  readonly findPrimary: () => Promise<void>
  /**
   * A number that is the same as before only if no process has changed a row of `table` in between, as of what is read
   * next; `null` where an engine can't tell without asking a server.
   */
  readonly tableVersion: (table: TableName) => number | null
  /**
   * Has `call` called soon after rows of `table` may have changed, by whichever process; what is read then sees it. It may be
   * called without a cause.
   *
   * @returns what ends it
   */
  readonly watch: (table: WatchedTable, call: () => void) => () => void
  /** Reads something, so that a database that can't be read throws. */
  readonly ping: () => Promise<void>
  /**
   * Copies the whole database, as of one moment and durably, to a new file while it is in use.
   *
   * @throws with advice where the file is there already, or the copy can't be made or lacks something
   */
  readonly backup: (path: string, onProgress?: OnProgress) => Promise<void>
  /** What the engine itself finds wrong with what it stored; reads everything. */
  readonly selfCheck: () => Promise<SelfCheck>
  /** Compares its schema with that which the migrations make. */
  readonly checkSchema: () => Promise<SchemaCheck>
  /** Counts of what the engine did since it was opened. */
  readonly statistics: () => DatabaseStatistics
  /** Waits for the writes that it has accepted, then closes. */
  readonly close: () => Promise<void>
}

/** The tables that may be watched: an engine may have to tell others of each change. */
export const watchedTables = ['events', 'trustedDocuments'] as const
export type WatchedTable = (typeof watchedTables)[number]

/** What a process ends with when another has taken its database over. */
export const takenOverExitCode = 3

/** What is known of an operation that writes. */
export type WriteOptions = {
  /** The one merchant whose rows it writes: such operations may share a transaction and its commit, one after another. */
  readonly merchantId?: string
  /** For what is made many times at once; see `Beside`. */
  readonly batchable?: Batchable
  /** The moment of `machineClock` after which it is not begun any more; `answerLimitMs` from now unless given. */
  readonly deadlineMs?: number
  /** Told of the commit that stores it, or that it waited for where it was refused, before anyone is answered. */
  readonly onCommitted?: OnCommitted
}

/**
 * Says of an operation of a merchant that it may run at the same time as others that say so, of any merchant, in one transaction.
 * Such an operation holds the same thing of its merchant as the others before it asks for anything (`Pending.hold`), relies on no
 * other lock to keep them away, and changes nothing before it knows that it is not refused.
 *
 * `key`: two of a merchant that have the same are not in one transaction, where neither would see what the other has made.
 */
export type Batchable = { readonly conflictKey: string | null }

/** The same database for one request, whose operations are begun by then or not at all. */
export function withDeadline(db: Database, beginBy: number): Database {
  return { ...db, write: (operation, options) => db.write(operation, { ...options, deadlineMs: beginBy }) }
}

/** What contradicts itself below the rows, and what could not be looked at, with the reason; `null` where all was. */
export type SelfCheck = { readonly errors: readonly string[]; readonly unchecked: string | null }

/** `writes` are operations that committed, `commits` the transactions that they shared; `waiting` operations have not begun. */
export type DatabaseStatistics = { readonly writes: number; readonly commits: number; readonly queued: number }

/** A commit that was durable: how many operations shared it, and how long the engine took to make it so. */
export type CommittedBatch = { readonly writes: number; readonly seconds: number }
export type OnCommitted = (group: CommittedBatch) => void

/** Thrown by an operation that lost a race to another writer; with one writer, as on SQLite, that can't happen. */
export class ConflictError extends Error {}

/** Thrown where a database can't be opened now and may be later, without anything being changed. */
export class TemporarilyUnavailableError extends Error {}

/** Stands for a database that is not open yet: everything is refused with UNAVAILABLE. */
export function unavailableDatabase(): Database {
  const refuse = async () => {
    throw unavailable('The service can not open its database yet.')
  }
  return {
    execute: refuse,
    write: refuse,
    requireQueueSpace: () => {},
    onBeforeBatch: () => {},
    takeOver: () => {},
    snapshot: refuse,
    refresh: () => {},
    findPrimary: async () => {},
    tableVersion: () => null,
    watch: () => () => {},
    ping: refuse,
    backup: refuse,
    selfCheck: refuse,
    checkSchema: refuse,
    statistics: () => ({ writes: 0, commits: 0, queued: 0 }),
    close: async () => {},
  }
}

/** Called as a long piece of work goes on: what is under way, how much is done and how much there is. */
export type OnProgress = (label: string, done: number, total: number) => void

/** What opening a database takes: where it is, and what to do when a commit's outcome can't be known. */
export type DatabaseOptions = {
  readonly url: string
  /** Refuses to make a new database, so that a mistyped URL is not taken for an empty one. */
  readonly mustExist?: boolean
  /** Refuses a server that is set to lose what it acknowledges, instead of warning. */
  readonly mustBeDurable?: boolean
  /** Opens it for reading only: it must be there, in the latest form, and `write` is a mistake. */
  readonly isReadOnly?: boolean
  /** Called when the process must end: rather than guess whether a commit is durable, or because whoever is told of one failed. */
  readonly onFatal: (error: Error) => void
  /** Called once, when the files of the database were removed or replaced and everything is refused from then on. */
  readonly onStopped?: (error: Error) => void
  /** Called before a database that is in use is brought into a later form; what it throws leaves it as it is. */
  readonly beforeMigrating?: ((coming: PendingMigrations) => MaybePromise<void>) | undefined
  /** Called before each migration, and after the last. */
  readonly onMigrating?: OnProgress | undefined
  /** Told of each commit, for whoever measures. */
  readonly onCommitted?: OnCommitted | undefined
  /** Told what an operator should put right, though the database works. */
  readonly onWarning?: (message: string) => void
}

/** A database that is only looked at, in whatever form it is. */
export type InspectedDatabase = {
  readonly db: Reader
  readonly state: EngineState
  /** As that of `Database`; only for one in the latest form. */
  readonly checkSchema: () => Promise<SchemaCheck>
  readonly close: () => Promise<void>
}

/** What an engine is set to, and how its tables stand against what this version knows. */
export type EngineState = {
  /** Its name and version. */
  readonly version: string
  readonly settings: readonly EngineSetting[]
  /** Migrations that the next start will run, and one that this version does not know. */
  readonly pendingMigrations: readonly string[]
  readonly unknownMigration: string | undefined
  /** How far its own clock, where it has one, is ahead of this machine's. */
  readonly clockSkewMs: number | null
}

/** A setting as it was read back; `advice` where what is acknowledged is not safe with it, or something will not work. */
export type EngineSetting = { readonly name: string; readonly value: string; readonly advice: string | null }

/** What a restore takes beside the URL of the database in whose place the backup is put. */
export type RestoreOptions = {
  readonly url: string
  /** The path of the backup, which stays as it is. */
  readonly backup: string
  /** Whether a database that is there may be replaced; it is kept beside, under a dated name. */
  readonly canReplace: boolean
  /** The moment that the name has, in milliseconds since 1970. */
  readonly now: number
  /** Looks through a copy of the backup by its URL, which it may bring to the latest form; what it throws refuses it. */
  readonly inspect: (url: string) => Promise<void>
  readonly onProgress?: OnProgress
}

/** Where a backup is now, a file or a database of a server, and where what was there before is kept; `null` where nothing was. */
export type RestoreResult = { readonly file: string; readonly kept: string | null }

/** What to do where a database was expected and there is none. */
export const missingDatabaseAdvice =
  'DATABASE_URL must name a database that is there, unless `npm run -s cli -- migrate` shall make a new one'

/** Whether a database at `url` takes the writes of one process only. */
export function isSingleWriter(url: string): boolean {
  return url.startsWith('sqlite:')
}
