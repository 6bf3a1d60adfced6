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

/** Records event metrics after COMMIT. A retry of the operation starts with an empty list of events. */
function wrapWrite({ write }: Database, { recordEvent }: MetricsRecorder): Database['write'] {
  return async (operation, options) => {
    let events: EventType[] = []
    const result = await write((tx) => {
      events = []
      return operation(captureEvents(tx, events))
    }, options)
    for (const type of events) recordEvent(type)
    return result
  }
}

function captureEvents(tx: Tx, events: EventType[]): Tx {
  const { deferred } = tx
  const update: typeof deferred.update = async (name, how) => {
    const value = await deferred.update(name, how)
    const event = eventOfDeferredWrite(name, value)
    if (event) events.push(event.type)
    return value
  }
  return { ...tx, deferred: { ...deferred, update } }
}

function wrapPerform(perform: Perform, recorder: MetricsRecorder): Perform {
  return async (operation, context, input) => {
    const result = await perform(operation, context, input)
    // If the endpoint was deleted, the result is `null`, and no attempt was recorded.
    if ((operation as unknown) === recordAttempts && result !== null)
      recordAttemptMetrics(input as AttemptReport, recorder)
    return result
  }
}

function recordAttemptMetrics({ attempted }: AttemptReport, recorder: MetricsRecorder): void {
  for (const { outcome, attemptedAt, durationMs, happenedAt } of attempted) {
    const delayMs = Date.parse(attemptedAt) + durationMs - Date.parse(happenedAt)
    // A merchant can advance its sandbox clock, so the delay can be negative.
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

function wrapRail(rail: Rail, { recordRailCall }: MetricsRecorder): Rail {
  const { name } = rail
  return observeRail(rail, async (call, _, ask) => {
    try {
      const answer = await ask()
      recordRailCall({ rail: name, call, outcome: railCallOutcomeOf(answer) })
      return answer
    } catch (error) {
      recordRailCall({ rail: name, call, outcome: 'NO_ANSWER' })
      throw error
    }
  })
}
