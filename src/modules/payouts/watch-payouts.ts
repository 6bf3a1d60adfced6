import { invalidInput, notFound } from '../../core/errors.ts'
import { filterUuids } from '../../core/ids-and-clock.ts'
import type { EventType } from '../../database/tables.ts'
import type { Context } from '../../operations/context.ts'
import { getCustomer } from '../customers/get-customer.ts'
import type { Event } from '../outbox/event.ts'
import { streamEvents } from '../outbox/event-poller.ts'
import { latestEventSequence } from '../outbox/read-events.ts'
import { payouts } from './list.ts'
import type { Payout } from './payout.ts'
import { settlementEvents } from './settle-payout.ts'

export const maxWatchedPayouts = 100

const settlementEventTypes: ReadonlySet<EventType> = new Set(Object.values(settlementEvents).map(({ type }) => type))

type WatchPayoutsArgs = {
  readonly payoutIds?: readonly string[] | null | undefined
  readonly customerId?: string | null | undefined
}

/**
 * A merchant's event sequence has no gaps, so a stream of payouts misses no change.
 *
 * @param args if `payoutIds` is set, the stream begins with the current payouts, and ends when all these payouts have a
 *   final status; if `payoutIds` is `null`, the stream contains only later changes and does not end
 * @param signal ends the stream
 * @throws DomainError INVALID_INPUT, RESOURCE_NOT_FOUND (a payout or the customer)
 */
export async function watchPayouts(
  context: Context,
  { payoutIds = null, customerId = null }: WatchPayoutsArgs,
  signal?: AbortSignal,
): Promise<AsyncGenerator<Payout>> {
  if (payoutIds !== null && customerId !== null) rejectField('customerId', 'must not be given together with ids')
  if (payoutIds !== null && (payoutIds.length === 0 || payoutIds.length > maxWatchedPayouts)) {
    rejectField('ids', `must have 1 to ${maxWatchedPayouts} items`)
  }
  const customer = customerId === null ? null : await getCustomer(context, { customerId })
  if (payoutIds === null) {
    const isWatched = (payout: Payout) => customer === null || payout.customerId === customer.id
    return readChangedPayouts(await streamEvents(context, null, signal), context, { isWatched })
  }
  // Reads the position in the event feed before the payouts, so that no change is lost.
  const after = await latestEventSequence(context)
  const valid = filterUuids(payoutIds)
  const ids = [...new Set(valid)]
  const first = await payouts.find(context, ids)
  if (valid.length < payoutIds.length || first.length < ids.length) throw notFound('Payout')
  const inOrder = first.toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
  return watchUntilSettled(context, inOrder, { after, signal })
}

async function* watchUntilSettled(
  context: Context,
  first: readonly Payout[],
  { after, signal }: { readonly after: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<Payout> {
  const latest = new Map(first.map((payout) => [payout.id, payout.status]))
  const canChange = () => [...latest.values()].some((status) => status === 'PROCESSING' || status === 'COMPLETED')
  yield* first
  if (!canChange()) return
  const isWatched = ({ id, status }: Payout) => latest.get(id) !== status
  const events = await streamEvents(context, after, signal)
  for await (const payout of readChangedPayouts(events, context, { isWatched, ids: new Set(latest.keys()) })) {
    latest.set(payout.id, payout.status)
    yield payout
    if (!canChange()) return
  }
}

type PayoutWatchFilter = {
  readonly isWatched: (payout: Payout) => boolean
  readonly ids?: ReadonlySet<string>
}

async function* readChangedPayouts(
  batches: AsyncIterable<readonly Event[]>,
  context: Context,
  { isWatched, ids: watchedIds }: PayoutWatchFilter,
): AsyncGenerator<Payout> {
  for await (const events of batches) {
    const changed = events.filter(
      ({ type, objectId }) => settlementEventTypes.has(type) && (watchedIds?.has(objectId) ?? true),
    )
    const ids = [...new Set(changed.map(({ objectId }) => objectId))]
    const rows = ids.length > 0 ? await payouts.find(context, ids) : []
    yield* rows.filter(isWatched).toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
  }
}

function rejectField(field: string, message: string): never {
  throw invalidInput([{ field, code: 'INVALID_PARAMETER', message }])
}
