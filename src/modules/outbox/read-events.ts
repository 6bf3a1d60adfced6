import { invalidInput } from '../../core/errors.ts'
import type { Database } from '../../database/database.ts'
import { readHighWaterMark } from '../../database/high-water-mark.ts'
import type { Reader } from '../../database/query.ts'
import { latestSequenceNumber } from '../../lists/sequence.ts'
import type { Context } from '../../operations/context.ts'
import type { Event, EventType } from './event.ts'
import { eventsAfter, eventsOfTypes, eventsWithin } from './repository.ts'

/** Events of the merchant that are looked through at once for those of one customer, of which there may be none. */
const customerScanLimit = 500

/** Events that the database looks through at once for those of some types. */
const typeScanLimit = 10_000

/** `latest` is a number that the merchant's events have come to, where one is known. */
type EventSliceRequest = { readonly after: number; readonly limit: number; readonly latest?: number }

/** Some events in their order; `through` is where to go on, and with `isLast` there were no more. */
type EventSlice = { readonly events: readonly Event[]; readonly through: number; readonly isLast: boolean }

/**
 * Reads the next of the events that there are for who asks, at most `limit`; for who acts as one customer those among the next few
 * numbers: its next may be a million numbers away, and no query looks for longer than others wait.
 */
export async function readEvents(
  context: Pick<Context, 'db' | 'merchantId'>,
  asked: EventSliceRequest,
): Promise<EventSlice> {
  const { db, merchantId } = context
  const { after, limit } = asked
  if (db.customerId === undefined) {
    const events = await eventsAfter(db, { merchantId, after, limit })
    return { events, through: events.at(-1)?.sequence ?? asked.latest ?? after, isLast: events.length < limit }
  }
  const latest = asked.latest ?? (await latestEventSequence(context))
  const through = Math.max(after, Math.min(after + customerScanLimit, latest))
  const events = through > after ? await eventsWithin(db, { merchantId, after, through }) : []
  // Between its looks whoever else there is has a turn.
  await new Promise((resolve) => setImmediate(resolve))
  return { events, through, isLast: through >= latest }
}

/**
 * The same of some types, for the merchant. The database filters them: 10,000 take it 0.6 ms of processor time, where reading the
 * rows takes 6.7. What it looks through has a bound, because the next may be a million numbers away.
 */
export async function readEventsOfTypes(
  context: Pick<Context, 'db' | 'merchantId'>,
  { after, limit, types }: Omit<EventSliceRequest, 'latest'> & { readonly types: readonly EventType[] },
): Promise<EventSlice> {
  const latest = await latestEventSequence(context)
  const through = Math.max(after, Math.min(after + typeScanLimit, latest))
  const { db, merchantId } = context
  const events = through > after ? await eventsOfTypes(db, { merchantId, after, through, types, limit }) : []
  return { events, through, isLast: through >= latest }
}

type EventReadContext = { readonly db: Reader & Partial<Pick<Database, 'findPrimary'>>; readonly merchantId: string }

/** The number of the merchant's latest event; 0 where nothing happened yet. */
export async function latestEventSequence({ db, merchantId }: EventReadContext): Promise<number> {
  return (await latestSequenceNumber(db, { merchantId, name: 'events' }))?.latest ?? 0
}

/**
 * A reader that knows more than there is would wait for what it has passed over: the database is of before, or another.
 *
 * @param after what it knows, which is returned
 * @param latest what is known here, without a query; another process may know a later one already, and so may who asks
 * @throws Refusal INVALID_INPUT
 */
export async function requireKnownSequence(context: EventReadContext, after: number, latest = 0): Promise<number> {
  if (after <= latest) return after
  const latestNow = await readHighWaterMark(context.db, after, () => latestEventSequence(context))
  if (after <= latestNow) return after
  const message = `must be at most ${latestNow}, the sequence of the latest event`
  throw invalidInput([{ field: 'after', code: 'INVALID_PARAMETER', message }])
}
