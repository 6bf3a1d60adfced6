import type { Context } from '../context.ts'
import { Conflict } from '../database/database.ts'
import { timestamp } from '../ids.ts'
import type { Customer } from './customer.ts'
import { findCustomer, requireActive } from './get-customer.ts'
import { setCustomerClosed } from './repository.ts'

/**
 * Closes a customer: what it owns stays readable, and nothing can be made or changed for it any more.
 *
 * @throws Refusal RESOURCE_NOT_FOUND, CUSTOMER_CLOSED
 */
export async function closeCustomer(context: Context, { customerId }: { customerId: string }): Promise<Customer> {
  return context.db.write(async (tx) => {
    const customer = requireActive(await findCustomer(tx, context, customerId))
    const { merchantId, id } = customer
    const closed = await setCustomerClosed(tx, { merchantId, id, updatedAt: timestamp(context.now()) })
    if (!closed) throw new Conflict('another request closed the customer')
    return closed
  })
}
