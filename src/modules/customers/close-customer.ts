import { z } from 'zod'
import { lookupId, parseInput } from '../../core/input.ts'
import { ConflictError } from '../../database/database.ts'
import type { IdempotentResult } from '../../operations/context.ts'
import { newUpdatedAt } from '../../operations/context.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { runOnce } from '../../operations/idempotency/run-once.ts'
import { recordEvent } from '../outbox/record-event.ts'
import type { Customer } from './customer.ts'
import { findCustomer, requireActive } from './get-customer.ts'
import { setCustomerClosed } from './repository.ts'

const CloseCustomerInput = z.object({ customerId: lookupId() })

export const closeCustomer = defineOperation(
  {
    name: 'closeCustomer',
    input: CloseCustomerInput,
    scope: 'customers',
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
  },
  async (context, input): Promise<IdempotentResult<Customer>> => {
    const request = parseInput(CloseCustomerInput, input)
    return runOnce(context, 'closeCustomer', request, async (tx) => {
      const customer = requireActive(await findCustomer(tx, context, request.customerId))
      const { merchantId, id } = customer
      const closed = await setCustomerClosed(tx, { merchantId, id, updatedAt: newUpdatedAt(context, customer) })
      if (!closed) throw new ConflictError('another request closed the customer')
      await recordEvent(tx, context, { type: 'customer.closed', objectId: id, at: closed.updatedAt, data: closed })
      return closed
    })
  },
)
