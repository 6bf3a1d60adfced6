import { z } from 'zod'
import { DomainError } from '../../core/errors.ts'
import { lookupId, optionalUuidOrEmpty, parseInput } from '../../core/input.ts'
import type { IdempotentResult } from '../../operations/context.ts'
import { newUpdatedAt } from '../../operations/context.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { runOnce } from '../../operations/idempotency/run-once.ts'
import { recordEvent } from '../outbox/record-event.ts'
import { payoutMethods } from './list.ts'
import type { PayoutMethod } from './payout-method.ts'
import { deletePayoutMethodRow } from './repository.ts'
import { lockOwnedPayoutMethod } from './update-bank-payout-method.ts'

const DeletePayoutMethodInput = z.object({ payoutMethodId: lookupId(), customerId: optionalUuidOrEmpty() })

/** This message has no full stop, because the original provider's message has none (ruling 100). */
const notFoundMessage = "Payout method not found or doesn't belong to requester"

/**
 * Deletes payout methods of any type (contract 4.7), even if the customer is closed (ruling 35). Existing payouts to a
 * deleted payout method keep its details.
 *
 * @returns the deleted method
 */
export const deletePayoutMethod = defineOperation(
  {
    name: 'deletePayoutMethod',
    input: DeletePayoutMethodInput,
    scope: 'payout_methods',
    actsAsCustomer: true,
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND'],
  },
  async (context, input): Promise<IdempotentResult<PayoutMethod>> => {
    const request = parseInput(DeletePayoutMethodInput, input)
    return runOnce(context, 'deletePayoutMethod', request, async (tx) => {
      const method = await lockOwnedPayoutMethod(tx, context, request)
      if (method === null || !(await deletePayoutMethodRow(tx, method)))
        throw new DomainError('RESOURCE_NOT_FOUND', notFoundMessage)
      await payoutMethods.count(tx, method, -1)
      await recordEvent(tx, context, {
        type: 'payout_method.deleted',
        objectId: method.id,
        at: newUpdatedAt(context, method),
        data: method,
      })
      return method
    })
  },
)
