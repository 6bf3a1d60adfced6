import { z } from 'zod'
import { DomainError } from '../../core/errors.ts'
import { parseInput } from '../../core/input.ts'
import type { IdempotentResult } from '../../operations/context.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { runOnce } from '../../operations/idempotency/run-once.ts'
import type { RailOrder } from '../rail-orders/rail-order.ts'
import { sandboxRailName } from '../rail-orders/sandbox-accounts.ts'
import { findPayoutByLookup, getPayoutByLookup, payoutLookupErrors } from './get-payout.ts'
import type { Payout } from './payout.ts'
import { SettlePayoutInput, settleManually } from './settle-payout.ts'

const SimulatePayoutInput = SettlePayoutInput.omit({ override: true }).extend({
  payoutId: z.string().nullish(),
  payoutKey: z.string().nullish(),
})

function externalRailError({ rail, state }: RailOrder): DomainError | null {
  if (rail === sandboxRailName) return null
  const message = `The payout is on the rail ${rail}, where it is ${state}: only its bank can settle it.`
  return new DomainError('PAYOUT_STATUS_CONFLICT', message)
}

export const simulatePayout = defineOperation(
  {
    name: 'simulatePayout',
    input: SimulatePayoutInput,
    scope: 'sandbox',
    actsAsCustomer: true,
    movesMoney: true,
    sandboxOnly: true,
    errors: ['RESOURCE_NOT_FOUND', 'PAYOUT_STATUS_CONFLICT', 'BALANCE_LIMIT_EXCEEDED'],
  },
  async (context, input): Promise<IdempotentResult<Payout>> => {
    const request = parseInput(SimulatePayoutInput, input, payoutLookupErrors(input))
    // The idempotency row stores only `updatedAt`. The response is the current payout, with the requested status and
    // the stored `updatedAt`.
    const { result, isReplayed } = await runOnce(context, 'simulatePayout', request, async (tx) => {
      const { id: payoutId } = await findPayoutByLookup(tx, context, request)
      const { updatedAt } = await settleManually(tx, context, { ...request, payoutId }, externalRailError)
      return { updatedAt }
    })
    const payout = await getPayoutByLookup(context, request)
    return { result: { ...payout, status: request.status, ...result }, isReplayed }
  },
)
