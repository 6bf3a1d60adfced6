import type { CommittedBatch } from '../../database/database.ts'
import type { EventType } from '../../modules/outbox/event.ts'
import type { RailCallName } from '../../modules/rails/adapters/rail.ts'
import type { AccessLogEntry } from '../../server/http/request-lifecycle.ts'

/** Takes down what the service does, as it is known from outside of its operations. None of it says whose it was. */
export type MetricsRecorder = {
  readonly recordResponse: (answer: AccessLogEntry, isTrusted: boolean) => void
  readonly recordCommit: (group: CommittedBatch) => void
  /** An event that is committed. */
  readonly recordEvent: (type: EventType) => void
  readonly recordAttempt: (attempt: AttemptMeasurement) => void
  readonly recordRailCall: (call: RailCallMeasurement) => void
}

/** What came of posting an event; `delayMs` is how long after it happened it was delivered, `null` where it was not. */
type AttemptMeasurement = {
  readonly outcome: 'delivered' | 'pending' | 'exhausted'
  readonly delayMs: number | null
}

/** A call to a bank; `outcome` is what it said of the order, or that there is no answer. */
type RailCallMeasurement = {
  readonly rail: string
  readonly call: RailCallName
  readonly outcome: string
}
