import { defineEnum, enumDescription } from '../../core/api/enum-descriptions.ts'
import type { Context } from '../../operations/context.ts'
import type { RailOrder, RailOrderHistoryEntry, RailOrderState } from '../rail-orders/rail-order.ts'
import { railOrderStates } from '../rail-orders/rail-order.ts'
import { railOrdersByIds } from '../rail-orders/repository.ts'
import type { Payout, PayoutEvent } from './payout.ts'
import { eventsOfPayouts } from './repository.ts'
import { stateBySettledStatus } from './settle-payout.ts'

/** What a payout goes through: what its transfer does on a rail, or, where none carries it, what somebody says of it. */
export const timelineStates = defineEnum<RailOrderState | 'PROCESSING'>({
  PROCESSING: 'It was made, and no rail carries it: it is paid by people, who say what becomes of it.',
  ...(Object.fromEntries(railOrderStates.map((state) => [state, enumDescription(railOrderStates, state)])) as {
    [Each in RailOrderState]: string
  }),
})

/** A state that a payout has come to: when, and why where somebody said so. */
export type TimelineStep = Omit<RailOrderHistoryEntry, 'state'> & { readonly state: (typeof timelineStates)[number] }

/** Steps that are shown of one payout: of one that goes to and fro for months the first half and the latest. */
export const maxTimelineSteps = 20

type TimelineContext = Pick<Context, 'db' | 'merchantId'>

/** The transfers of those among some orders that a rail carries, by the order. */
export async function findRailOrders(
  { db, merchantId }: TimelineContext,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, RailOrder>> {
  const transfers = await railOrdersByIds(db, { merchantId, orderIds })
  return new Map(transfers.map((transfer) => [transfer.orderId, transfer]))
}

/** The transfers of some orders; whoever asks for those of one more than once may keep them. */
type LoadRailOrders = (orderIds: readonly string[]) => Promise<(orderId: string) => RailOrder | null>

/** What a timeline must know of its payout. */
export type TimelinePayout = Pick<Payout, 'id' | 'referenceId' | 'createdAt'>

/** What each of some payouts has gone through, oldest first, by the payout's id. */
export async function findTimelines(
  context: TimelineContext,
  found: readonly TimelinePayout[],
  transfersOf: LoadRailOrders,
): Promise<ReadonlyMap<string, readonly TimelineStep[]>> {
  const transferOf = await transfersOf(found.map(({ referenceId }) => referenceId))
  const [onRails, others] = [found.filter(isOnRail), found.filter((payout) => !isOnRail(payout))]
  const ids = others.map(({ id }) => id)
  const events = Map.groupBy(ids.length === 0 ? [] : await findPayoutEvents(context, ids), ({ payoutId }) => payoutId)
  return new Map([
    ...onRails.map((payout) => [payout.id, railSteps(transferOf(payout.referenceId) as RailOrder)] as const),
    ...others.map((payout) => [payout.id, manualSteps(payout, events.get(payout.id) ?? [])] as const),
  ])

  function isOnRail({ referenceId }: TimelinePayout): boolean {
    return transferOf(referenceId) !== null
  }
}

function railSteps({ createdAt, history }: RailOrder): readonly TimelineStep[] {
  const steps = [
    { state: 'QUEUED' as const, at: createdAt, cause: null },
    ...(history as readonly RailOrderHistoryEntry[]),
  ]
  const half = maxTimelineSteps / 2
  return steps.length <= maxTimelineSteps ? steps : [...steps.slice(0, half), ...steps.slice(-half)]
}

function manualSteps({ createdAt }: TimelinePayout, events: readonly PayoutEvent[]): readonly TimelineStep[] {
  const settled = events.map(({ status, createdAt: at, cause }) => ({ state: stateBySettledStatus[status], at, cause }))
  return [{ state: 'PROCESSING', at: createdAt, cause: null }, ...settled]
}

/** What became of the payouts among `payoutIds`, oldest first for each payout. */
export async function findPayoutEvents(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  payoutIds: readonly string[],
): Promise<PayoutEvent[]> {
  return eventsOfPayouts(db, { merchantId, payoutIds })
}
