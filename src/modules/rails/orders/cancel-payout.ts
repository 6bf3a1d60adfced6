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
 * A payout that was never submitted becomes `FAILED` immediately, and the wallet is refunded. If the payout was
 * submitted, the service sends a cancellation to the bank, and the payout does not change until the bank responds. A
 * second cancellation request has no effect.
 *
 * @returns the current payout
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
  const railOrder = await lockRailOrder(tx, { merchantId, orderId })
  if (!railOrder) throw statusConflict('No rail carries the payout, so no bank can cancel it.')
  const isNew = railOrder.state === 'QUEUED' && railOrder.attempts === 0
  if (isNew) {
    await settleInTransaction(tx, context, { payoutId, status: 'FAILED', cause: 'cancelled' })
    await transitionRailOrder(tx, context, railOrder, { state: 'CANCELLED', dueAt: null })
  } else if (mayBeAtBank(railOrder)) {
    if (railOrder.cancelAskedAt === null) await requestCancellation(tx, context, railOrder)
  } else if (railOrder.state !== 'CANCELLED') throw statusConflict(conflictMessage(railOrder))
}

/** A `QUEUED` rail order may have been submitted to the bank before. */
function mayBeAtBank({ state }: RailOrder): boolean {
  return state === 'ACCEPTED' || state === 'UNKNOWN' || state === 'QUEUED'
}

/**
 * A queued order becomes `UNKNOWN`, so that the order is not submitted before the bank responds to the cancellation.
 */
function requestCancellation(tx: Tx, context: Context, railOrder: RailOrder): Promise<RailOrder> {
  const request = { cancelAskedAt: timestamp(context.now()), dueAt: dueTimeAfter(0, context.wallClock()), asked: 0 }
  if (railOrder.state !== 'QUEUED') return updateRailOrder(tx, railOrder, request)
  return transitionRailOrder(tx, context, railOrder, {
    ...request,
    state: 'UNKNOWN',
    cause: 'a cancellation was requested',
  })
}

function conflictMessage({ rail, state }: RailOrder): string {
  if (state === 'SUBMITTING')
    return `The payout is being submitted to the rail ${rail} at this moment: retry when the bank has answered.`
  if (state === 'ATTENTION')
    return `The payout needs attention because the rail ${rail} contradicted itself or has no record of it: it can't be cancelled before a decision.`
  return `The payout is ${state} on the rail ${rail}: there is nothing left to cancel.`
}

function statusConflict(message: string): DomainError {
  return new DomainError('PAYOUT_STATUS_CONFLICT', message)
}
