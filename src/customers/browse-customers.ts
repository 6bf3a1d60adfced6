import { z } from 'zod'
import type { Context } from '../context.ts'
import { sequencedList } from '../database/created-range.ts'
import { latestInSequence } from '../database/sequence.ts'
import { createdFields, oneOf, optional, parse } from '../input.ts'
import type { Slice } from '../slice.ts'
import { sliceFields, sliceOf } from '../slice.ts'
import type { Customer } from './customer.ts'
import { customerStatuses, customerTypes } from './customer.ts'
import { browsedCustomers, countBrowsedCustomers, customerMark } from './repository.ts'

export const BrowseCustomersInput = z.object({
  status: optional(oneOf(customerStatuses)),
  customerType: optional(oneOf(customerTypes)),
  ...createdFields,
  ...sliceFields,
})

/**
 * A slice of the merchant's customers, newest first.
 *
 * @param input `createdFrom` inclusive and `createdBefore` exclusive, in ISO 8601
 * @throws Refusal INVALID_INPUT
 */
export async function browseCustomers(
  { db, merchantId }: Context,
  input: z.input<typeof BrowseCustomersInput>,
): Promise<Slice<Customer>> {
  const { status, customerType, createdFrom, createdBefore, ...slice } = parse(BrowseCustomersInput, input)
  const filter = { merchantId, status: status ?? undefined, customerType: customerType ?? undefined }
  const list = sequencedList<Customer>({
    name: ['customers', filter],
    created: { createdFrom, createdBefore },
    sequenceOf: ({ sequence }) => sequence,
    markAt: (fromSequence) => customerMark(db, { merchantId, fromSequence }),
    rows: (range) => browsedCustomers(db, { ...filter, ...range }),
    count: (range) => countBrowsedCustomers(db, { ...filter, ...range }),
    keptTotal:
      status === null && customerType === null
        ? async () => (await latestInSequence(db, { merchantId, name: 'customers' }))?.latest ?? 0
        : null,
  })
  return sliceOf(list, slice)
}
