import { invalidInput } from '../../core/errors.ts'
import type { Database } from '../../database/database.ts'
import { readHighWaterMark } from '../../database/database.ts'
import type { Reader } from '../../database/query.ts'
import type { EventType } from '../../database/tables.ts'
import { latestSequenceNumber } from '../../lists/sequence.ts'
import type { Context } from '../../operations/context.ts'
import type { Event } from './event.ts'
import { eventsAfter, eventsOfTypes, eventsWithin } from './repository.ts'

const customerScanLimit = 500

const typeScanLimit = 10_000

type EventSliceRequest = { readonly after: number; readonly limit: number; readonly latest?: number }

/** `through` is the cursor for the next read. `isLast` is true if there are no more events. */
type EventSlice = { readonly events: readonly Event[]; readonly through: number; readonly isLast: boolean }

/**
 * A request with a token for one customer scans at most `customerScanLimit` events, because the customer's next event
 * may be a million events away.
 */
export async function readEvents(
  context: Pick<Context, 'db' | 'merchantId'>,
  request: EventSliceRequest,
): Promise<EventSlice> {
  const { db, merchantId } = context
  const { after, limit, latest: knownLatest } = request
  if (db.customerId === undefined) {
    const events = await eventsAfter(db, { merchantId, after, limit })
    return { events, through: events.at(-1)?.sequence ?? knownLatest ?? after, isLast: events.length < limit }
  }
  const latest = knownLatest ?? (await latestEventSequence(context))
  const through = Math.max(after, Math.min(after + customerScanLimit, latest))
  const events = through > after ? await eventsWithin(db, { merchantId, after, through }) : []
  await new Promise((resolve) => setImmediate(resolve))
  return { events, through, isLast: through >= latest }
}

/**
 * Filtering in the database is ten times as fast as reading all rows. The scan has a limit, because the next matching
 * event may be a million events away.
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

export async function latestEventSequence({ db, merchantId }: EventReadContext): Promise<number> {
  return (await latestSequenceNumber(db, { merchantId, name: 'events' }))?.latest ?? 0
}

/**
 * Rejects a cursor beyond the latest event, because a client with this cursor would miss events. A cursor beyond the
 * latest event comes from another database, or from before a restore from a backup.
 *
 * @param latest a known lower bound of the latest sequence, which can save a query
 * @returns `after`
 * @throws DomainError INVALID_INPUT
 */
export async function requireKnownSequence(context: EventReadContext, after: number, latest = 0): Promise<number> {
  if (after <= latest) return after
  const latestNow = await readHighWaterMark(context.db, after, () => latestEventSequence(context))
  if (after <= latestNow) return after
  const message = `must be at most ${latestNow}, the sequence of the latest event`
  throw invalidInput([{ field: 'after', code: 'INVALID_PARAMETER', message }])
}
