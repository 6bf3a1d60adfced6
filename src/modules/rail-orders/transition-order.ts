import { dueTimeAfter } from '../../core/ids-and-clock.ts'
import type { Tx } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import type { Context } from '../../operations/context.ts'
import { newUpdatedAt } from '../../operations/context.ts'
import type { RailOrder, RailOrderHistoryEntry, RailOrderState } from './rail-order.ts'
import { insertRailOrder, saveRailOrder } from './repository.ts'

/** Puts a new payout in the queue of the rail that carries it. */
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

/** Steps that are kept of a transfer: one that goes to and fro for months keeps the first and the latest. */
const maxHistoryEntries = 100

type RailOrderChanges = Partial<
  Pick<RailOrder, 'dueAt' | 'asked' | 'attempts' | 'submittedAt' | 'reference' | 'cancelAskedAt'>
>

/** Changes what is known of a transfer, in the state that it is in. */
export async function updateRailOrder(tx: Tx, transfer: RailOrder, changes: RailOrderChanges): Promise<RailOrder> {
  const changed = { ...transfer, ...changes }
  await saveRailOrder(tx, changed)
  return changed
}

/** Brings a transfer into another state, and notes when and why. */
export async function transitionRailOrder(
  tx: Tx,
  context: Context,
  transfer: RailOrder,
  {
    state,
    cause = null,
    ...changes
  }: RailOrderChanges & { readonly state: RailOrderState; readonly cause?: string | null },
): Promise<RailOrder> {
  const updatedAt = newUpdatedAt(context, transfer)
  const moved = {
    ...transfer,
    ...changes,
    state,
    updatedAt,
    history: appendHistory(transfer, { state, at: updatedAt, cause }),
  }
  await saveRailOrder(tx, moved)
  return moved
}

/** Notes what was heard of a transfer that stays as it is, in the state that it has had since it was brought there. */
export async function noteOnRailOrder(
  tx: Tx,
  context: Context,
  transfer: RailOrder,
  { cause, ...changes }: RailOrderChanges & { readonly cause: string },
): Promise<RailOrder> {
  const { state } = transfer
  const at = newUpdatedAt(context, transfer)
  const noted = { ...transfer, ...changes, history: appendHistory(transfer, { state, at, cause }) }
  await saveRailOrder(tx, noted)
  return noted
}

function appendHistory({ history }: RailOrder, step: RailOrderHistoryEntry): RailOrderHistoryEntry[] {
  const steps = [...history, step] as RailOrderHistoryEntry[]
  if (steps.length > maxHistoryEntries) steps.splice(maxHistoryEntries / 2, 1)
  return steps
}
