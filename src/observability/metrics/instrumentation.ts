import type { Database, OnCommitted } from '../../database/database.ts'
import type { Rail } from '../../modules/rails/adapters/rail.ts'
import type { Sender } from '../../modules/webhooks/transport/send.ts'
import type { Perform, Service } from '../../operations/context.ts'
import type { AccessLog, RequestTracer } from '../../server/http/request-lifecycle.ts'

/** Metrics and tracing do not change the behaviour of the wrapped objects. */
export type Instrumentation = {
  readonly onCommitted: OnCommitted | undefined
  readonly wrapDatabase: (db: Database) => Database
  readonly wrapPerform: (perform: Perform) => Perform
  readonly wrapAccessLog: <Log extends AccessLog>(log: Log) => Log
  readonly wrapRail: (rail: Rail) => Rail
  readonly wrapSender: (sender: Sender) => Sender
  readonly requestSpans: RequestTracer | undefined
  readonly observeDatabase: (source: DatabaseMetricsSource) => void
  readonly shutdown: () => Promise<void>
}

export type DatabaseMetricsSource = {
  readonly service: Service
  readonly rails: readonly string[]
  readonly onError: (error: unknown) => void
}

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
