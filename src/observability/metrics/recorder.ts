import type { CommittedGroup } from '../../database/database.ts'
import type { EventType } from '../../modules/outbox/event.ts'
import type { RailCallName } from '../../modules/rails/adapters/traced-rail.ts'
import type { LoggedAnswer } from '../../server/http/access-log.ts'

/** Takes down what the service does, as it is known from outside of its operations. None of it says whose it was. */
export type Recorder = {
  readonly answered: (answer: LoggedAnswer, isTrusted: boolean) => void
  readonly committed: (group: CommittedGroup) => void
  /** An event that is committed. */
  readonly happened: (type: EventType) => void
  readonly attempted: (attempt: AttemptMeasured) => void
  readonly railCalled: (call: RailCall) => void
}

/** What came of posting an event; `delayMs` is how long after it happened it was delivered, `null` where it was not. */
type AttemptMeasured = {
  readonly outcome: 'delivered' | 'pending' | 'exhausted'
  readonly delayMs: number | null
}

/** A call to a bank; `outcome` is what it said of the order, or that there is no answer. */
type RailCall = {
  readonly rail: string
  readonly call: RailCallName
  readonly outcome: string
}
