import type { Database } from '../../database/database.ts'
import type { Tx } from '../../database/query.ts'
import type { EventType } from '../../modules/outbox/event.ts'
import { toldBy } from '../../modules/outbox/record-event.ts'
import type { Rail } from '../../modules/rails/adapters/rail.ts'
import { observedRail, outcomeOfCall } from '../../modules/rails/adapters/traced-rail.ts'
import type { Report } from '../../modules/webhooks/dispatcher/record-attempts.ts'
import { recordAttempts } from '../../modules/webhooks/dispatcher/record-attempts.ts'
import type { Perform } from '../../operations/context.ts'
import type { AnswerLog } from '../../server/http/access-log.ts'
import type { Measuring } from './measure.ts'
import { unmeasured } from './measure.ts'
import type { Recorder } from './recorder.ts'

/** Has a recorder take down what goes on. */
export function measuredBy(recorder: Recorder): Measuring {
  return {
    ...unmeasured,
    onCommitted: recorder.committed,
    database: (db) => ({ ...db, write: writeOf(db, recorder) }),
    perform: (perform) => performOf(perform, recorder),
    answers: (log) => answersOf(log, recorder),
    rail: (rail) => railOf(rail, recorder),
  }
}

/** Tells of events once they are durable; an operation that runs again tells them anew. */
function writeOf({ write }: Database, { happened }: Recorder): Database['write'] {
  return async (operation, options) => {
    let told: EventType[] = []
    const result = await write((tx) => {
      told = []
      return operation(noting(tx, told))
    }, options)
    for (const type of told) happened(type)
    return result
  }
}

function noting(tx: Tx, told: EventType[]): Tx {
  const { pending } = tx
  const change: typeof pending.change = async (name, how) => {
    const value = await pending.change(name, how)
    const happening = toldBy(name, value)
    if (happening) told.push(happening.type)
    return value
  }
  return { ...tx, pending: { ...pending, change } }
}

function performOf(perform: Perform, recorder: Recorder): Perform {
  return async (operation, context, input) => {
    const result = await perform(operation, context, input)
    // What is not recorded is sent again.
    if ((operation as unknown) === recordAttempts && result !== null) noteAttempts(input as Report, recorder)
    return result
  }
}

function noteAttempts({ attempted }: Report, recorder: Recorder): void {
  for (const { becomes, attemptedAt, durationMs, happenedAt } of attempted) {
    const delayMs = Date.parse(attemptedAt) + durationMs - Date.parse(happenedAt)
    // A merchant of the sandbox may be ahead of the machine.
    const isKnown = becomes === 'delivered' && delayMs >= 0
    recorder.attempted({ outcome: becomes, delayMs: isKnown ? delayMs : null })
  }
}

function answersOf<Log extends AnswerLog>(log: Log, recorder: Recorder): Log {
  const answered: AnswerLog['answered'] = (answer, isTrusted = false) => {
    log.answered(answer, isTrusted)
    recorder.answered(answer, isTrusted)
  }
  return Object.create(log, { answered: { value: answered } })
}

function railOf(rail: Rail, { railCalled }: Recorder): Rail {
  const { name } = rail
  return observedRail(rail, async (call, _, ask) => {
    try {
      const answer = await ask()
      railCalled({ rail: name, call, outcome: outcomeOfCall(answer) })
      return answer
    } catch (error) {
      railCalled({ rail: name, call, outcome: 'NO_ANSWER' })
      throw error
    }
  })
}
