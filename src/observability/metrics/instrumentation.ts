import type { Database, OnCommitted } from '../../database/database.ts'
import type { Rail } from '../../modules/rails/adapters/rail.ts'
import type { Sender } from '../../modules/webhooks/transport/send.ts'
import type { Perform, Service } from '../../operations/context.ts'
import type { AccessLog, RequestTracer } from '../../server/http/request-lifecycle.ts'

/**
 * Decorators of a process's components for metrics and tracing, chosen once at the start of the process. They do not change the
 * behaviour of what they wrap.
 */
export type Instrumentation = {
  /** `undefined` without metrics. */
  readonly onCommitted: OnCommitted | undefined
  /** Wraps a database that this process writes to. */
  readonly wrapDatabase: (db: Database) => Database
  readonly wrapPerform: (perform: Perform) => Perform
  readonly wrapAccessLog: <Log extends AccessLog>(log: Log) => Log
  readonly wrapRail: (rail: Rail) => Rail
  readonly wrapSender: (sender: Sender) => Sender
  /** `undefined` without tracing. */
  readonly requestSpans: RequestTracer | undefined
  /** Sets the source of the metrics that are read from the database at each scrape. */
  readonly observeDatabase: (source: DatabaseMetricsSource) => void
  /** Exports what is buffered, within seconds, because the process ends. */
  readonly shutdown: () => Promise<void>
}

/** A service with the names of its rails; `onError` reports why the database could not be read. */
export type DatabaseMetricsSource = {
  readonly service: Service
  readonly rails: readonly string[]
  readonly onError: (error: unknown) => void
}

/** Returns everything unwrapped, so it costs nothing. */
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
