import type { z } from 'zod'
import { dayOrInstant, endDayOrInstant, optional, parseInput } from '../../core/input.ts'
import type { Page } from '../../lists/list-pages.ts'
import type { Context } from '../../operations/context.ts'
import type { Customer } from './customer.ts'
import { customers } from './list.ts'

export const ListCustomersInput = customers.PageInput.omit({ createdFrom: true, createdBefore: true }).extend({
  startDate: optional(dayOrInstant()),
  endDate: optional(endDayOrInstant()),
})

/**
 * Returns a page of customers, with the provider's filters (ruling 128).
 *
 * @throws DomainError INVALID_INPUT
 */
export async function listCustomers(
  context: Context,
  input: z.input<typeof ListCustomersInput>,
): Promise<Page<Customer>> {
  const { startDate: createdFrom, endDate: createdBefore } = parseInput(ListCustomersInput, input)
  const { startDate: _, endDate: __, ...filters } = input
  return customers.page(context, { ...filters, createdFrom, createdBefore })
}
