import type { Database, OnCommitted } from '../../database/database.ts'
import type { Rail } from '../../modules/rails/adapters/rail.ts'
import type { Sender } from '../../modules/webhooks/transport/send.ts'
import type { Perform, Service } from '../../operations/context.ts'
import type { AccessLog, RequestTracer } from '../../server/http/request-lifecycle.ts'

/**
 * What a process is put together with where it may be measured or traced: each has what it is given do the same, seen or
 * unseen. Which it is is chosen once, when the process starts.
 */
export type Instrumentation = {
  /** Told of commits; `undefined` where nobody wants to know. */
  readonly onCommitted: OnCommitted | undefined
  /** A database in which this process writes. */
  readonly wrapDatabase: (db: Database) => Database
  /** How operations that write are run in this process. */
  readonly wrapPerform: (perform: Perform) => Perform
  readonly wrapAccessLog: <Log extends AccessLog>(log: Log) => Log
  readonly wrapRail: (rail: Rail) => Rail
  /** What webhooks are sent by. */
  readonly wrapSender: (sender: Sender) => Sender
  /** What follows requests; `undefined` where nobody wants to know. */
  readonly requestSpans: RequestTracer | undefined
  /** Told what to look into when somebody asks. */
  readonly observeDatabase: (looked: DatabaseMetricsSource) => void
  /** Hands over what was seen and is not told yet; within seconds, because the process ends. */
  readonly shutdown: () => Promise<void>
}

/** A service with the names of its rails; `onFault` is told why the database could not be read. */
export type DatabaseMetricsSource = {
  readonly service: Service
  readonly rails: readonly string[]
  readonly onError: (error: unknown) => void
}

/** Measures nothing, and costs nothing. */
export const noInstrumentation: Instrumentation = {
  onCommitted: undefined,
  wrapDatabase: (db) => db,
  wrapPerform: (perform) => perform,
  wrapAccessLog: (log) => log,
  wrapRail: (rail) => rail,
  wrapSender: (sender) => sender,
  requestSpans: undefined,
  observeDatabase: () => {},
  shutdown: async () => {},
}
