import { defineEnum, enumDescription } from '../../core/api/enum-descriptions.ts'
import type { Context } from '../../operations/context.ts'
import type { RailOrder, RailOrderHistoryEntry, RailOrderState } from '../rail-orders/rail-order.ts'
import { railOrderStates } from '../rail-orders/rail-order.ts'
import { railOrdersByIds } from '../rail-orders/repository.ts'
import type { Payout, PayoutEvent } from './payout.ts'
import { eventsOfPayouts } from './repository.ts'
import { stateBySettledStatus } from './settle-payout.ts'

export const timelineStates = defineEnum<RailOrderState | 'PROCESSING'>({
  PROCESSING: 'The payout was created, and an operator pays it, because no rail carries it.',
  ...(Object.fromEntries(railOrderStates.map((state) => [state, enumDescription(railOrderStates, state)])) as {
    [Each in RailOrderState]: string
  }),
})

export type TimelineStep = Omit<RailOrderHistoryEntry, 'state'> & { readonly state: (typeof timelineStates)[number] }

/** A timeline has at most the payout's first ten and latest ten steps. */
export const maxTimelineSteps = 20

type TimelineContext = Pick<Context, 'db' | 'merchantId'>

export async function findRailOrders(
  { db, merchantId }: TimelineContext,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, RailOrder>> {
  const orders = await railOrdersByIds(db, { merchantId, orderIds })
  return new Map(orders.map((order) => [order.orderId, order]))
}

type LoadRailOrders = (orderIds: readonly string[]) => Promise<(orderId: string) => RailOrder | null>

export type TimelinePayout = Pick<Payout, 'id' | 'referenceId' | 'createdAt'>

export async function findTimelines(
  context: TimelineContext,
  payouts: readonly TimelinePayout[],
  loadOrders: LoadRailOrders,
): Promise<ReadonlyMap<string, readonly TimelineStep[]>> {
  const orderOf = await loadOrders(payouts.map(({ referenceId }) => referenceId))
  const [onRails, manual] = [payouts.filter(isOnRail), payouts.filter((payout) => !isOnRail(payout))]
  const ids = manual.map(({ id }) => id)
  const events = Map.groupBy(ids.length === 0 ? [] : await findPayoutEvents(context, ids), ({ payoutId }) => payoutId)
  return new Map([
    ...onRails.map((payout) => [payout.id, railSteps(orderOf(payout.referenceId) as RailOrder)] as const),
    ...manual.map((payout) => [payout.id, manualSteps(payout, events.get(payout.id) ?? [])] as const),
  ])

  function isOnRail({ referenceId }: TimelinePayout): boolean {
    return orderOf(referenceId) !== null
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

export async function findPayoutEvents(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  payoutIds: readonly string[],
): Promise<PayoutEvent[]> {
  return eventsOfPayouts(db, { merchantId, payoutIds })
}
