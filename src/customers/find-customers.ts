import type { Context } from '../context.ts'
import { uuidsAmong } from '../ids.ts'
import type { Customer } from './customer.ts'
import { customersByIds } from './repository.ts'

/** The merchant's customers among `ids`, in any order; what is not there or not the merchant's is left out. */
export function findCustomers(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  ids: readonly string[],
): Promise<Customer[]> {
  return customersByIds(db, { merchantId, ids: uuidsAmong(ids) })
}
