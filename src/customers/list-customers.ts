import { z } from 'zod'
import type { Context } from '../context.ts'
import { pageOfSequence } from '../database/sequence.ts'
import { limit, page, parse } from '../input.ts'
import type { Page } from '../page.ts'
import type { Customer } from './customer.ts'
import { customersDownFrom } from './repository.ts'

// The contract's samples show pages of ten.
export const ListCustomersInput = z.object({ page: page(), limit: limit(10) })

/**
 * A page of the merchant's customers, newest first (contract 4.1).
 *
 * @throws Refusal INVALID_INPUT
 */
export async function listCustomers(
  { db, merchantId }: Context,
  input: z.input<typeof ListCustomersInput>,
): Promise<Page<Customer>> {
  const asked = parse(ListCustomersInput, input)
  return pageOfSequence(db, { merchantId, name: 'customers', ...asked }, (start, read) =>
    customersDownFrom(read, { merchantId, ...start }),
  )
}
