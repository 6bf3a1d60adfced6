import { invalidInput, notFound } from '../../core/errors.ts'
import { uuidsAmong } from '../../core/ids.ts'
import type { Context } from '../../operations/context.ts'
import { getCustomer } from '../customers/get-customer.ts'
import type { Event, EventType } from '../outbox/event.ts'
import { eventsFrom } from '../outbox/event-poller.ts'
import { latestOf } from '../outbox/latest-event.ts'
import { payouts } from './list.ts'
import type { Payout } from './payout.ts'
import { settlementTold } from './settle-payout.ts'

/** Payouts that one caller may watch by their ids. */
export const mostWatched = 100

/** The events that say that the status of a payout has changed; that it was made is no change. */
const changes: ReadonlySet<EventType> = new Set(Object.values(settlementTold).map(({ type }) => type))

type Watched = {
  readonly payoutIds?: readonly string[] | null | undefined
  readonly customerId?: string | null | undefined
}

/**
 * Payouts whenever their status has changed, each as it is then.
 *
 * It reads the merchant's events, however many payouts are watched: their numbers are dense and in the order of their commits,
 * so none is missed.
 *
 * @param watched `payoutIds`, which are given as they are now first, until nothing more can become of any of them; or those
 *   of a customer; or with neither all of the merchant's and its customers', from now on and without an end
 * @param signal ends it
 * @throws Refusal INVALID_INPUT, RESOURCE_NOT_FOUND (one of the payouts, or the customer)
 */
export async function watchPayouts(
  context: Context,
  { payoutIds = null, customerId = null }: Watched,
  signal?: AbortSignal,
): Promise<AsyncGenerator<Payout>> {
  if (payoutIds !== null && customerId !== null) refuse('customerId', 'must not be given together with ids')
  if (payoutIds !== null && (payoutIds.length === 0 || payoutIds.length > mostWatched)) {
    refuse('ids', `must have 1 to ${mostWatched} items`)
  }
  const customer = customerId === null ? null : await getCustomer(context, { customerId })
  if (payoutIds === null) {
    const isWatched = (payout: Payout) => customer === null || payout.customerId === customer.id
    return changesIn(await eventsFrom(context, null, signal), context, { isWatched })
  }
  // Read before the payouts are: what becomes of one in between is told twice rather than not at all.
  const after = await latestOf(context)
  const valid = uuidsAmong(payoutIds)
  const ids = [...new Set(valid)]
  const first = await payouts.find(context, ids)
  if (valid.length < payoutIds.length || first.length < ids.length) throw notFound('Payout')
  const inOrder = first.toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
  return untilSettled(context, inOrder, { after, signal })
}

/** Payouts as they are, and then their changes, until all of them have come to an end. */
async function* untilSettled(
  context: Context,
  first: readonly Payout[],
  { after, signal }: { readonly after: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<Payout> {
  const latest = new Map(first.map((payout) => [payout.id, payout.status]))
  const mayChange = () => [...latest.values()].some((status) => status === 'PROCESSING' || status === 'COMPLETED')
  yield* first
  if (!mayChange()) return
  const isWatched = ({ id, status }: Payout) => latest.get(id) !== status
  const events = await eventsFrom(context, after, signal)
  for await (const payout of changesIn(events, context, { isWatched, ids: new Set(latest.keys()) })) {
    latest.set(payout.id, payout.status)
    yield payout
    if (!mayChange()) return
  }
}

type Watching = {
  readonly isWatched: (payout: Payout) => boolean
  /** What is watched, where that is known before a payout is read. */
  readonly ids?: ReadonlySet<string>
}

async function* changesIn(
  batches: AsyncIterable<readonly Event[]>,
  context: Context,
  { isWatched, ids: watched }: Watching,
): AsyncGenerator<Payout> {
  for await (const events of batches) {
    const changed = events.filter(({ type, objectId }) => changes.has(type) && (watched?.has(objectId) ?? true))
    const ids = [...new Set(changed.map(({ objectId }) => objectId))]
    const found = ids.length > 0 ? await payouts.find(context, ids) : []
    yield* found.filter(isWatched).toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
  }
}

function refuse(field: string, message: string): never {
  throw invalidInput([{ field, code: 'INVALID_PARAMETER', message }])
}
