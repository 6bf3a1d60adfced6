import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { getCustomer } from '../customers/get-customer.ts'
import { invalidInput, notFound } from '../errors.ts'
import { uuidsAmong } from '../ids.ts'
import { latestInSequence } from '../lists/sequence.ts'
import { payouts } from './list.ts'
import type { Payout } from './payout.ts'
import { payoutEventsAfter } from './repository.ts'

/** How often it is looked whether something has changed: whoever settles a payout may be another process, so nobody tells. */
const lookEveryMs = 500

/** Payouts that one caller may watch by their ids. */
export const mostWatched = 100

/** Events that are read at once; where there are more, the next look follows at once. */
const eventsRead = 500

type Watched = {
  readonly payoutIds?: readonly string[] | null | undefined
  readonly customerId?: string | null | undefined
}

/**
 * Payouts whenever their status has changed, each as it is then.
 *
 * Each look asks for the events after the last one that was seen, however many payouts are watched: their numbers are dense
 * and in the order of their commits, so none is missed.
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
  const { db, merchantId } = context
  // Read before the payouts are: what becomes of one in between is told twice rather than not at all.
  const after = (await latestInSequence(db, { merchantId, name: 'payout_events' }))?.latest ?? 0
  if (payoutIds === null) {
    const isWatched = (payout: Payout) => customer === null || payout.customerId === customer.id
    return changesAfter(context, { after, isWatched, signal })
  }
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
  { after, signal }: Pick<Watching, 'after' | 'signal'>,
): AsyncGenerator<Payout> {
  const latest = new Map(first.map((payout) => [payout.id, payout.status]))
  const mayChange = () => [...latest.values()].some((status) => status === 'PROCESSING' || status === 'COMPLETED')
  yield* first
  if (!mayChange()) return
  const isWatched = ({ id, status }: Payout) => latest.has(id) && latest.get(id) !== status
  for await (const payout of changesAfter(context, { after, isWatched, signal, ids: new Set(latest.keys()) })) {
    latest.set(payout.id, payout.status)
    yield payout
    if (!mayChange()) return
  }
}

type Watching = {
  /** The number of the last event that is known. */
  readonly after: number
  readonly isWatched: (payout: Payout) => boolean
  readonly signal: AbortSignal | undefined
  /** What is watched, where that is known before a payout is read. */
  readonly ids?: ReadonlySet<string>
}

async function* changesAfter(
  context: Context,
  { after, isWatched, signal, ids: watched }: Watching,
): AsyncGenerator<Payout> {
  const { db, merchantId } = context
  let seen = after
  while (!signal?.aborted) {
    const events = await payoutEventsAfter(db, { merchantId, after: seen, limit: eventsRead })
    seen = events.at(-1)?.sequence ?? seen
    const ids = [...new Set(events.map(({ payoutId }) => payoutId))].filter((id) => watched?.has(id) ?? true)
    const found = ids.length > 0 ? await payouts.find(context, ids) : []
    yield* found.filter(isWatched).toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
    if (events.length < eventsRead) await delay(lookEveryMs, null, { ref: false, signal }).catch(() => {})
  }
}

function refuse(field: string, message: string): never {
  throw invalidInput([{ field, code: 'INVALID_PARAMETER', message }])
}
