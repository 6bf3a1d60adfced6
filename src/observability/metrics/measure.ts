import type { Database, OnCommitted } from '../../database/database.ts'
import type { Rail } from '../../modules/rails/adapters/rail.ts'
import type { Sender } from '../../modules/webhooks/transport/send.ts'
import type { Perform, Service } from '../../operations/context.ts'
import type { AnswerLog } from '../../server/http/access-log.ts'
import type { RequestSpans } from '../../server/http/request-lifecycle.ts'

/**
 * What a process is put together with where it may be measured or traced: each has what it is given do the same, seen or
 * unseen. Which it is is chosen once, when the process starts.
 */
export type Measuring = {
  /** Told of commits; `undefined` where nobody wants to know. */
  readonly onCommitted: OnCommitted | undefined
  /** A database in which this process writes. */
  readonly database: (db: Database) => Database
  /** How operations that write are run in this process. */
  readonly perform: (perform: Perform) => Perform
  readonly answers: <Log extends AnswerLog>(log: Log) => Log
  readonly rail: (rail: Rail) => Rail
  /** What webhooks are sent by. */
  readonly sender: (sender: Sender) => Sender
  /** What follows requests; `undefined` where nobody wants to know. */
  readonly requests: RequestSpans | undefined
  /** Told what to look into when somebody asks. */
  readonly lookInto: (looked: LookedInto) => void
  /** Hands over what was seen and is not told yet; within seconds, because the process ends. */
  readonly end: () => Promise<void>
}

/** A service with the names of its rails; `onFault` is told why the database could not be read. */
export type LookedInto = {
  readonly service: Service
  readonly rails: readonly string[]
  readonly onFault: (error: unknown) => void
}

/** Measures nothing, and costs nothing. */
export const unmeasured: Measuring = {
  onCommitted: undefined,
  database: (db) => db,
  perform: (perform) => perform,
  answers: (log) => log,
  rail: (rail) => rail,
  sender: (sender) => sender,
  requests: undefined,
  lookInto: () => {},
  end: async () => {},
}
