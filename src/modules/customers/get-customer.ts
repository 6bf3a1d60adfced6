import { z } from 'zod'
import { DomainError, invalidInput, notFound } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import type { Reader, Tx } from '../../database/query.ts'
import type { Context } from '../../operations/context.ts'
import type { Customer } from './customer.ts'
import { customers } from './list.ts'
import { lockCustomerById, shareLockCustomerById } from './repository.ts'

export const GetCustomerInput = z.object({ customerId: z.string() })

/**
 * Contract 4.2.
 *
 * @throws DomainError RESOURCE_NOT_FOUND, also for a malformed id (ruling 5)
 */
export async function getCustomer(context: Context, input: z.input<typeof GetCustomerInput>): Promise<Customer> {
  return customers.get(context, input.customerId)
}

/**
 * Returns `null` if the owner is the merchant itself. A share lock prevents other transactions from closing the
 * customer before this transaction ends.
 *
 * @throws DomainError RESOURCE_NOT_FOUND, CUSTOMER_CLOSED (ruling 35)
 */
export async function lockActiveCustomer(
  tx: Tx,
  context: Context,
  customerId: string | null,
): Promise<Customer | null> {
  if (customerId === null) return requireMerchantCaller(context)
  return requireActive(await lockCustomerWith(shareLockCustomerById, tx, context, customerId))
}

/**
 * Unlike `lockActiveCustomer`, takes no lock on the customer's row.
 *
 * @throws DomainError RESOURCE_NOT_FOUND, CUSTOMER_CLOSED
 */
export async function requireActiveCustomer(
  db: Reader,
  context: Context,
  customerId: string | null,
): Promise<Customer | null> {
  if (customerId === null) return requireMerchantCaller(context)
  return requireActive(await findCustomer(db, context, customerId))
}

function requireMerchantCaller({ caller }: Context): null {
  if (caller.customerId === null) return null
  const message = 'must name the customer that the token acts as'
  throw invalidInput([{ field: 'customerId', code: 'MISSING_REQUIRED_FIELD', message }])
}

/** @throws DomainError CUSTOMER_CLOSED */
export function requireActive(customer: Customer): Customer {
  if (customer.status === 'active') return customer
  throw new DomainError('CUSTOMER_CLOSED', 'The customer is closed.')
}

/** @throws DomainError RESOURCE_NOT_FOUND */
export function lockCustomer(tx: Tx, context: Context, customerId: string): Promise<Customer> {
  return lockCustomerWith(lockCustomerById, tx, context, customerId)
}

/** @throws DomainError RESOURCE_NOT_FOUND */
export function findCustomer(db: Reader, { merchantId }: Context, customerId: string): Promise<Customer> {
  return customers.get({ db, merchantId }, customerId)
}

async function lockCustomerWith(
  lock: typeof lockCustomerById,
  tx: Tx,
  { merchantId }: Context,
  customerId: string,
): Promise<Customer> {
  const id = parseUuid(customerId)
  const row = id && (await lock(tx, { merchantId, id }))
  if (!row) throw notFound('Customer')
  return row
}
