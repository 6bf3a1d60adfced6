import { z } from 'zod'
import { DomainError } from '../../../core/errors.ts'
import { dueTimeAfter, timestamp } from '../../../core/ids-and-clock.ts'
import { parseInput } from '../../../core/input.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context, IdempotentResult } from '../../../operations/context.ts'
import { defineOperation } from '../../../operations/define-operation.ts'
import { runOnce } from '../../../operations/idempotency/run-once.ts'
import { findPayoutByLookup, getPayoutByLookup, payoutLookupErrors } from '../../payouts/get-payout.ts'
import type { Payout } from '../../payouts/payout.ts'
import { settleInTransaction } from '../../payouts/settle-payout.ts'
import type { RailOrder } from '../../rail-orders/rail-order.ts'
import { lockRailOrder } from '../../rail-orders/repository.ts'
import { transitionRailOrder, updateRailOrder } from '../../rail-orders/transition-order.ts'

const CancelPayoutInput = z.object({ payoutId: z.string().nullish(), payoutKey: z.string().nullish() })

/**
 * Takes a payout back that a rail carries. One that was never submitted is `FAILED` at once, and its money is back; of one
 * that the bank has, or may have, the bank is asked to take it back, and the payout stays as it is until the bank has said
 * so. Asked again it answers the same.
 *
 * @returns the payout as it is now
 */
export const cancelPayout = defineOperation(
  {
    name: 'cancelPayout',
    input: CancelPayoutInput,
    scope: 'payouts',
    actsAsCustomer: true,
    movesMoney: true,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND', 'PAYOUT_STATUS_CONFLICT'],
  },
  async (context, input): Promise<IdempotentResult<Payout>> => {
    const request = parseInput(CancelPayoutInput, input, payoutLookupErrors(input))
    const { isReplayed } = await runOnce(context, 'cancelPayout', request, async (tx) => {
      const payout = await findPayoutByLookup(tx, context, request)
      await cancelInTransaction(tx, context, payout)
      return { payoutId: payout.id }
    })
    return { result: await getPayoutByLookup(context, request), isReplayed }
  },
)

async function cancelInTransaction(tx: Tx, context: Context, payout: Payout): Promise<void> {
  const { merchantId, referenceId: orderId, id: payoutId } = payout
  const transfer = await lockRailOrder(tx, { merchantId, orderId })
  if (!transfer) throw statusConflict('No rail carries the payout, so there is none that could take it back.')
  const isNew = transfer.state === 'QUEUED' && transfer.attempts === 0
  if (isNew) {
    await settleInTransaction(tx, context, { payoutId, status: 'FAILED', cause: 'cancelled' })
    await transitionRailOrder(tx, context, transfer, { state: 'CANCELLED', dueAt: null })
  } else if (mayBeAtBank(transfer)) {
    if (transfer.cancelAskedAt === null) await requestCancellation(tx, context, transfer)
  } else if (transfer.state !== 'CANCELLED') throw statusConflict(conflictMessage(transfer))
}

/** What waits to be submitted again may have reached the bank before. */
function mayBeAtBank({ state }: RailOrder): boolean {
  return state === 'ACCEPTED' || state === 'UNKNOWN' || state === 'QUEUED'
}

/** It is not submitted again while that is not known. */
function requestCancellation(tx: Tx, context: Context, transfer: RailOrder): Promise<RailOrder> {
  const asking = { cancelAskedAt: timestamp(context.now()), dueAt: dueTimeAfter(0, context.wallClock()), asked: 0 }
  if (transfer.state !== 'QUEUED') return updateRailOrder(tx, transfer, asking)
  return transitionRailOrder(tx, context, transfer, { ...asking, state: 'UNKNOWN', cause: 'it is to be cancelled' })
}

function conflictMessage({ rail, state }: RailOrder): string {
  if (state === 'SUBMITTING')
    return `The payout is being submitted to the rail ${rail} at this moment: ask again when the bank has answered.`
  if (state === 'ATTENTION')
    return `A person must look at the payout, which the rail ${rail} contradicts itself about or knows nothing of: it can't be cancelled.`
  return `The payout is ${state} on the rail ${rail}: there is nothing left to cancel.`
}

function statusConflict(message: string): DomainError {
  return new DomainError('PAYOUT_STATUS_CONFLICT', message)
}
