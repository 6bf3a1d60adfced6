import { z } from 'zod'
import { Refusal } from '../../../core/errors.ts'
import { dueAfter, timestamp } from '../../../core/ids.ts'
import { parse } from '../../../core/input.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context, Done } from '../../../operations/context.ts'
import { once } from '../../../operations/idempotency/run-once.ts'
import { findNamedPayout, getNamedPayout, payoutNameFaults } from '../../payouts/get-payout.ts'
import type { Payout } from '../../payouts/payout.ts'
import { settleWithin } from '../../payouts/settle-payout.ts'
import type { Transfer } from '../../rail-orders/rail-order.ts'
import { lockTransfer } from '../../rail-orders/repository.ts'
import { changeTransfer, moveTransfer } from '../../rail-orders/transition-order.ts'

const CancelPayoutInput = z.object({ payoutId: z.string().nullish(), payoutKey: z.string().nullish() })

/**
 * Takes a payout back that a rail carries. One that was never submitted is `FAILED` at once, and its money is back; of one
 * that the bank has, or may have, the bank is asked to take it back, and the payout stays as it is until the bank has said
 * so. Asked again it answers the same.
 *
 * @returns the payout as it is now
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND,
 *   PAYOUT_STATUS_CONFLICT
 */
export async function cancelPayout(context: Context, input: z.input<typeof CancelPayoutInput>): Promise<Done<Payout>> {
  const request = parse(CancelPayoutInput, input, payoutNameFaults(input))
  const { isReplayed } = await once(context, 'cancelPayout', request, async (tx) => {
    const payout = await findNamedPayout(tx, context, request)
    await cancelWithin(tx, context, payout)
    return { payoutId: payout.id }
  })
  return { result: await getNamedPayout(context, request), isReplayed }
}

async function cancelWithin(tx: Tx, context: Context, payout: Payout): Promise<void> {
  const { merchantId, referenceId: orderId, id: payoutId } = payout
  const transfer = await lockTransfer(tx, { merchantId, orderId })
  if (!transfer) throw conflict('No rail carries the payout, so there is none that could take it back.')
  const isNew = transfer.state === 'QUEUED' && transfer.attempts === 0
  if (isNew) {
    await settleWithin(tx, context, { payoutId, status: 'FAILED', cause: 'cancelled' })
    await moveTransfer(tx, context, transfer, { state: 'CANCELLED', dueAt: null })
  } else if (isWithBank(transfer)) {
    if (transfer.cancelAskedAt === null) await askBank(tx, context, transfer)
  } else if (transfer.state !== 'CANCELLED') throw conflict(whyNot(transfer))
}

/** What waits to be submitted again may have reached the bank before. */
function isWithBank({ state }: Transfer): boolean {
  return state === 'ACCEPTED' || state === 'UNKNOWN' || state === 'QUEUED'
}

/** It is not submitted again while that is not known. */
function askBank(tx: Tx, context: Context, transfer: Transfer): Promise<Transfer> {
  const asking = { cancelAskedAt: timestamp(context.now()), dueAt: dueAfter(0, context.wallClock()), asked: 0 }
  if (transfer.state !== 'QUEUED') return changeTransfer(tx, transfer, asking)
  return moveTransfer(tx, context, transfer, { ...asking, state: 'UNKNOWN', cause: 'it is to be cancelled' })
}

function whyNot({ rail, state }: Transfer): string {
  if (state === 'SUBMITTING')
    return `The payout is being submitted to the rail ${rail} at this moment: ask again when the bank has answered.`
  if (state === 'ATTENTION')
    return `A person must look at the payout, which the rail ${rail} contradicts itself about or knows nothing of: it can't be cancelled.`
  return `The payout is ${state} on the rail ${rail}: there is nothing left to cancel.`
}

function conflict(message: string): Refusal {
  return new Refusal('PAYOUT_STATUS_CONFLICT', message)
}
