import { z } from 'zod'
import { lookupId, parse } from '../../core/input.ts'
import { Conflict } from '../../database/database.ts'
import type { Context, Done } from '../../operations/context.ts'
import { timeOfChange } from '../../operations/context.ts'
import { once } from '../../operations/idempotency/run-once.ts'
import { recordEvent } from '../outbox/record-event.ts'
import type { Customer } from './customer.ts'
import { findCustomer, requireActive } from './get-customer.ts'
import { setCustomerClosed } from './repository.ts'

export const CloseCustomerInput = z.object({ customerId: lookupId() })

/**
 * Closes a customer: what it owns stays readable, and nothing can be made or changed for it any more.
 *
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND, CUSTOMER_CLOSED
 */
export async function closeCustomer(
  context: Context,
  input: z.input<typeof CloseCustomerInput>,
): Promise<Done<Customer>> {
  const request = parse(CloseCustomerInput, input)
  return once(context, 'closeCustomer', request, async (tx) => {
    const customer = requireActive(await findCustomer(tx, context, request.customerId))
    const { merchantId, id } = customer
    const closed = await setCustomerClosed(tx, { merchantId, id, updatedAt: timeOfChange(context, customer) })
    if (!closed) throw new Conflict('another request closed the customer')
    await recordEvent(tx, context, { type: 'customer.closed', objectId: id, at: closed.updatedAt, data: closed })
    return closed
  })
}
