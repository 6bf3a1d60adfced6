import { z } from 'zod'
import type { Context } from '../context.ts'
import { latestInSequence } from '../database/sequence.ts'
import { limit, page, parse } from '../input.ts'
import type { Page } from '../page.ts'
import { offsetOf } from '../page.ts'
import type { Customer } from './customer.ts'
import { customersDownFrom } from './repository.ts'

// The contract's samples show pages of ten.
export const ListCustomersInput = z.object({ page: page(), limit: limit(10) })

/**
 * A page of the merchant's customers, newest first (contract 4.1).
 *
 * Customers are never deleted, so their numbers are dense: the total is the latest, and any page starts at a known one.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function listCustomers(
  { db, merchantId }: Context,
  input: z.input<typeof ListCustomersInput>,
): Promise<Page<Customer>> {
  const asked = parse(ListCustomersInput, input)
  const total = (await latestInSequence(db, { merchantId, name: 'customers' }))?.latest ?? 0
  const fromSequence = total - offsetOf(asked)
  const items = fromSequence > 0 ? await customersDownFrom(db, { merchantId, fromSequence, limit: asked.limit }) : []
  return { ...asked, items, total }
}
