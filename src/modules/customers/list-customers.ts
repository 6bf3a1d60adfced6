import type { z } from 'zod'
import { parseUuid } from '../../core/ids-and-clock.ts'
import { dayOrInstant, endDayOrInstant, optional, optionalText, parseInput } from '../../core/input.ts'
import { allOrFirstError } from '../../core/maybe-promise.ts'
import type { Page } from '../../lists/list-pages.ts'
import type { CreatedRange } from '../../lists/time-range.ts'
import type { Context } from '../../operations/context.ts'
import type { Customer } from './customer.ts'
import { customers } from './list.ts'
import { customerListingsByIds } from './repository.ts'
import { findCustomerIds, findCustomerIdsByName } from './search-keys.ts'

export const ListCustomersInput = customers.PageInput.omit({ createdFrom: true, createdBefore: true }).extend({
  search: optionalText(),
  startDate: optional(dayOrInstant()),
  endDate: optional(endDayOrInstant()),
})

/**
 * Accepts the original provider's filters (ruling 128).
 *
 * @throws DomainError INVALID_INPUT
 */
export async function listCustomers(
  context: Context,
  input: z.input<typeof ListCustomersInput>,
): Promise<Page<Customer>> {
  const parsed = parseInput(ListCustomersInput, input)
  const { search: term, startDate: createdFrom, endDate: createdBefore, ...request } = parsed
  if (term !== null) return findCustomers(context, { ...request, term, createdFrom, createdBefore })
  const { search: _, startDate: __, endDate: ___, ...filters } = input
  return customers.page(context, { ...filters, createdFrom, createdBefore })
}

/** A search with more matches would block other requests for tens of milliseconds. */
const maxMatches = 1_000

type Search = CreatedRange &
  Omit<z.output<typeof ListCustomersInput>, 'search' | 'startDate' | 'endDate'> & { readonly term: string }

/**
 * Matches customers whose id, e-mail address or phone number equals the search term, or whose name begins with the
 * search term. All other filters apply only to customers that match the search term.
 */
async function findCustomers(
  context: Context,
  { term, createdFrom, createdBefore, customerType, status, page, limit }: Search,
): Promise<Page<Customer>> {
  const { db, merchantId } = context
  const search = { merchantId, term, limit: maxMatches }
  const found = await allOrFirstError([findCustomerIds(db, search), findCustomerIdsByName(db, search)])
  const ids = new Set([parseUuid(term) ?? [], ...found].flat())
  const matches = (await customerListingsByIds(db, { merchantId, ids: [...ids].slice(0, maxMatches) }))
    .filter(
      (row) =>
        (customerType === null || row.customerType === customerType) &&
        (status === null || row.status === status) &&
        (createdFrom === null || row.createdAt >= createdFrom) &&
        (createdBefore === null || row.createdAt < createdBefore),
    )
    .toSorted(newestFirst)
  const idsOfPage = matches.slice((page - 1) * limit, page * limit).map(({ id }) => id)
  const items = await customers.find(context, idsOfPage)
  return { items: items.toSorted(newestFirst), total: matches.length, page, limit }
}

function newestFirst(one: Pick<Customer, 'sequence'>, other: Pick<Customer, 'sequence'>): number {
  return other.sequence - one.sequence
}
