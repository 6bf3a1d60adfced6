import { z } from 'zod'
import type { Context } from '../context.ts'
import { ownerFilter } from '../customers/owner.ts'
import { countOfList } from '../database/counted-list.ts'
import { sequencedList } from '../database/created-range.ts'
import { createdFields, oneOf, optional, optionalText, parse } from '../input.ts'
import type { Slice } from '../slice.ts'
import { listInMemory, sliceFields, sliceOf } from '../slice.ts'
import { filterOf, listName } from './list-payout-methods.ts'
import type { PayoutMethod } from './payout-method.ts'
import { payoutMethodOf, payoutMethodTypes } from './payout-method.ts'
import { browsedPayoutMethods, countBrowsedPayoutMethods, payoutMethodMarks } from './repository.ts'

export const BrowsePayoutMethodsInput = z.object({
  owner: ownerFilter(),
  type: optional(oneOf(payoutMethodTypes)),
  currency: optionalText(),
  ...createdFields,
  ...sliceFields,
})

/**
 * A slice of the merchant's and its customers' payout methods, of both types mixed, newest first.
 *
 * @param input `createdFrom` inclusive and `createdBefore` exclusive, in ISO 8601; an unknown customer or currency matches
 *   nothing
 * @throws Refusal INVALID_INPUT
 */
export async function browsePayoutMethods(
  { db, merchantId }: Context,
  input: z.input<typeof BrowsePayoutMethodsInput>,
): Promise<Slice<PayoutMethod>> {
  const { owner, type, currency, createdFrom, createdBefore, ...slice } = parse(BrowsePayoutMethodsInput, input)
  const filter = await filterOf(db, merchantId, { owner, type, currency })
  const name = ['payout_methods', { merchantId, owner, type, currency }]
  if (filter === null) return sliceOf(listInMemory<PayoutMethod>(name, []), slice)

  const { ownerId } = filter
  const list = sequencedList<PayoutMethod>({
    name,
    created: { createdFrom, createdBefore },
    sequenceOf: (method) => (ownerId === undefined ? method.sequence : method.ownerSequence),
    markAt: async (fromSequence) => (await payoutMethodMarks(db, { merchantId, ownerId, fromSequence }))[0] ?? null,
    rows: async (range) => (await browsedPayoutMethods(db, { merchantId, ...filter, ...range })).map(payoutMethodOf),
    count: (range) => countBrowsedPayoutMethods(db, { merchantId, ...filter, ...range }),
    keptTotal: () => countOfList(db, { merchantId, list: listName(filter) }),
  })
  return sliceOf(list, slice)
}
