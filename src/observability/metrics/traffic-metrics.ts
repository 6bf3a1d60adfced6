import type { Database } from '../../database/database.ts'
import type { Tx } from '../../database/query.ts'
import type { EventType } from '../../database/tables.ts'
import { eventOfDeferredWrite } from '../../modules/outbox/record-event.ts'
import type { Rail } from '../../modules/rails/adapters/rail.ts'
import { observeRail, railCallOutcomeOf } from '../../modules/rails/adapters/rail.ts'
import type { AttemptReport } from '../../modules/webhooks/dispatcher/record-attempts.ts'
import { recordAttempts } from '../../modules/webhooks/dispatcher/record-attempts.ts'
import type { Perform } from '../../operations/context.ts'
import type { AccessLog } from '../../server/http/request-lifecycle.ts'
import type { Instrumentation } from './instrumentation.ts'
import { noInstrumentation } from './instrumentation.ts'
import type { MetricsRecorder } from './instruments.ts'

/** Has a recorder take down what goes on. */
export function createMetricsInstrumentation(recorder: MetricsRecorder): Instrumentation {
  return {
    ...noInstrumentation,
    onCommitted: recorder.recordCommit,
    wrapDatabase: (db) => ({ ...db, write: wrapWrite(db, recorder) }),
    wrapPerform: (perform) => wrapPerform(perform, recorder),
    wrapAccessLog: (log) => wrapAccessLog(log, recorder),
    wrapRail: (rail) => wrapRail(rail, recorder),
  }
}

/** Tells of events once they are durable; an operation that runs again tells them anew. */
function wrapWrite({ write }: Database, { recordEvent: happened }: MetricsRecorder): Database['write'] {
  return async (operation, options) => {
    let told: EventType[] = []
    const result = await write((tx) => {
      told = []
      return operation(captureEvents(tx, told))
    }, options)
    for (const type of told) happened(type)
    return result
  }
}

function captureEvents(tx: Tx, told: EventType[]): Tx {
  const { deferred: pending } = tx
  const change: typeof pending.update = async (name, how) => {
    const value = await pending.update(name, how)
    const happening = eventOfDeferredWrite(name, value)
    if (happening) told.push(happening.type)
    return value
  }
  return { ...tx, deferred: { ...pending, update: change } }
}

function wrapPerform(perform: Perform, recorder: MetricsRecorder): Perform {
  return async (operation, context, input) => {
    const result = await perform(operation, context, input)
    // What is not recorded is sent again.
    if ((operation as unknown) === recordAttempts && result !== null)
      recordAttemptMetrics(input as AttemptReport, recorder)
    return result
  }
}

function recordAttemptMetrics({ attempted }: AttemptReport, recorder: MetricsRecorder): void {
  for (const { outcome, attemptedAt, durationMs, happenedAt } of attempted) {
    const delayMs = Date.parse(attemptedAt) + durationMs - Date.parse(happenedAt)
    // A merchant of the sandbox may be ahead of the machine.
    const isKnown = outcome === 'delivered' && delayMs >= 0
    recorder.recordAttempt({ outcome, delayMs: isKnown ? delayMs : null })
  }
}

function wrapAccessLog<Log extends AccessLog>(log: Log, recorder: MetricsRecorder): Log {
  const answered: AccessLog['answered'] = (answer, isTrusted = false) => {
    log.answered(answer, isTrusted)
    recorder.recordResponse(answer, isTrusted)
  }
  return Object.create(log, { answered: { value: answered } })
}

function wrapRail(rail: Rail, { recordRailCall: railCalled }: MetricsRecorder): Rail {
  const { name } = rail
  return observeRail(rail, async (call, _, ask) => {
    try {
      const answer = await ask()
      railCalled({ rail: name, call, outcome: railCallOutcomeOf(answer) })
      return answer
    } catch (error) {
      railCalled({ rail: name, call, outcome: 'NO_ANSWER' })
      throw error
    }
  })
}
