import { dueTimeAfter } from '../../core/ids-and-clock.ts'
import type { Tx } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import type { Context } from '../../operations/context.ts'
import { insertRailOrder } from './repository.ts'

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
