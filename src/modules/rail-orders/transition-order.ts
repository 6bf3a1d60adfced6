import { dueTimeAfter } from '../../core/ids-and-clock.ts'
import type { Tx } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import type { Context } from '../../operations/context.ts'
import { newUpdatedAt } from '../../operations/context.ts'
import type { RailOrder, RailOrderHistoryEntry, RailOrderState } from './rail-order.ts'
import { insertRailOrder, saveRailOrder } from './repository.ts'

export async function enqueueRailOrder(
  tx: Tx,
  context: Context,
  { rail, payout }: { rail: string; payout: Omit<RowOf<'payouts'>, 'checksum'> },
): Promise<void> {
  await insertRailOrder(tx, {
    orderId: payout.referenceId,
    merchantId: payout.merchantId,
    payoutId: payout.id,
    rail,
    state: 'QUEUED',
    dueAt: dueTimeAfter(0, context.wallClock()),
    asked: 0,
    attempts: 0,
    submittedAt: null,
    reference: null,
    cancelAskedAt: null,
    history: [],
    createdAt: payout.createdAt,
    updatedAt: payout.createdAt,
  })
}

/** The history of a rail order has its first 50 and its latest 50 entries. */
const maxHistoryEntries = 100

type RailOrderChanges = Partial<
  Pick<RailOrder, 'dueAt' | 'asked' | 'attempts' | 'submittedAt' | 'reference' | 'cancelAskedAt'>
>

export async function updateRailOrder(tx: Tx, order: RailOrder, changes: RailOrderChanges): Promise<RailOrder> {
  const updated = { ...order, ...changes }
  await saveRailOrder(tx, updated)
  return updated
}

export async function transitionRailOrder(
  tx: Tx,
  context: Context,
  order: RailOrder,
  {
    state,
    cause = null,
    ...changes
  }: RailOrderChanges & { readonly state: RailOrderState; readonly cause?: string | null },
): Promise<RailOrder> {
  const updatedAt = newUpdatedAt(context, order)
  const updated = {
    ...order,
    ...changes,
    state,
    updatedAt,
    history: appendHistory(order, { state, at: updatedAt, cause }),
  }
  await saveRailOrder(tx, updated)
  return updated
}

/** Does not change the rail order's `updatedAt`. */
export async function noteOnRailOrder(
  tx: Tx,
  context: Context,
  order: RailOrder,
  { cause, ...changes }: RailOrderChanges & { readonly cause: string },
): Promise<RailOrder> {
  const { state } = order
  const at = newUpdatedAt(context, order)
  const noted = { ...order, ...changes, history: appendHistory(order, { state, at, cause }) }
  await saveRailOrder(tx, noted)
  return noted
}

function appendHistory({ history }: RailOrder, step: RailOrderHistoryEntry): RailOrderHistoryEntry[] {
  const steps = [...history, step] as RailOrderHistoryEntry[]
  if (steps.length > maxHistoryEntries) steps.splice(maxHistoryEntries / 2, 1)
  return steps
}
