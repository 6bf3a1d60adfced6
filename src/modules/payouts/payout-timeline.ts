import { describedValues, meaningOf } from '../../core/api/enum-descriptions.ts'
import type { Context } from '../../operations/context.ts'
import type { Transfer, TransferState, TransferStep } from '../rail-orders/rail-order.ts'
import { transferStates } from '../rail-orders/rail-order.ts'
import { transfersOfOrders } from '../rail-orders/repository.ts'
import { findPayoutEvents } from './find-payout-events.ts'
import type { Payout, PayoutEvent } from './payout.ts'
import { stateOfStatus } from './settle-payout.ts'

/** What a payout goes through: what its transfer does on a rail, or, where none carries it, what somebody says of it. */
export const timelineStates = describedValues<TransferState | 'PROCESSING'>({
  PROCESSING: 'It was made, and no rail carries it: it is paid by people, who say what becomes of it.',
  ...(Object.fromEntries(transferStates.map((state) => [state, meaningOf(transferStates, state)])) as {
    [Each in TransferState]: string
  }),
})

/** A state that a payout has come to: when, and why where somebody said so. */
export type TimelineStep = Omit<TransferStep, 'state'> & { readonly state: (typeof timelineStates)[number] }

/** Steps that are shown of one payout: of one that goes to and fro for months the first half and the latest. */
export const mostSteps = 20

type Asking = Pick<Context, 'db' | 'merchantId'>

/** The transfers of those among some orders that a rail carries, by the order. */
export async function findTransfers(
  { db, merchantId }: Asking,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, Transfer>> {
  const transfers = await transfersOfOrders(db, { merchantId, orderIds })
  return new Map(transfers.map((transfer) => [transfer.orderId, transfer]))
}

/** The transfers of some orders; whoever asks for those of one more than once may keep them. */
type FindTransfers = (orderIds: readonly string[]) => Promise<(orderId: string) => Transfer | null>

/** What a timeline must know of its payout. */
export type Origin = Pick<Payout, 'id' | 'referenceId' | 'createdAt'>

/** What each of some payouts has gone through, oldest first, by the payout's id. */
export async function findTimelines(
  context: Asking,
  found: readonly Origin[],
  transfersOf: FindTransfers,
): Promise<ReadonlyMap<string, readonly TimelineStep[]>> {
  const transferOf = await transfersOf(found.map(({ referenceId }) => referenceId))
  const [onRails, others] = [found.filter(isOnRail), found.filter((payout) => !isOnRail(payout))]
  const ids = others.map(({ id }) => id)
  const events = Map.groupBy(ids.length === 0 ? [] : await findPayoutEvents(context, ids), ({ payoutId }) => payoutId)
  return new Map([
    ...onRails.map((payout) => [payout.id, stepsOnRail(transferOf(payout.referenceId) as Transfer)] as const),
    ...others.map((payout) => [payout.id, stepsByHand(payout, events.get(payout.id) ?? [])] as const),
  ])

  function isOnRail({ referenceId }: Origin): boolean {
    return transferOf(referenceId) !== null
  }
}

function stepsOnRail({ createdAt, history }: Transfer): readonly TimelineStep[] {
  const steps = [{ state: 'QUEUED' as const, at: createdAt, cause: null }, ...(history as readonly TransferStep[])]
  const half = mostSteps / 2
  return steps.length <= mostSteps ? steps : [...steps.slice(0, half), ...steps.slice(-half)]
}

function stepsByHand({ createdAt }: Origin, events: readonly PayoutEvent[]): readonly TimelineStep[] {
  const settled = events.map(({ status, createdAt: at, cause }) => ({ state: stateOfStatus[status], at, cause }))
  return [{ state: 'PROCESSING', at: createdAt, cause: null }, ...settled]
}
