import { z } from 'zod'
import type { Context } from '../context.ts'
import type { OwnerFilter } from '../customers/owner.ts'
import { ownerFilter } from '../customers/owner.ts'
import { countOfList, countsByParent } from '../database/counted-list.ts'
import { sequencedList } from '../database/created-range.ts'
import { sliceByKey, slicesOfEach } from '../database/slices-of-each.ts'
import { createdFields, oneOf, optional, optionalText, parse } from '../input.ts'
import type { Slice } from '../slice.ts'
import { listInMemory, sliceFields, sliceOf } from '../slice.ts'
import { filterOf, listName } from './list-payout-methods.ts'
import type { PayoutMethod, PayoutMethodType } from './payout-method.ts'
import { payoutMethodOf, payoutMethodTypes } from './payout-method.ts'
import {
  browsedPayoutMethods,
  countBrowsedPayoutMethods,
  payoutMethodCountsOfCustomers,
  payoutMethodIdsOfCustomers,
  payoutMethodMarks,
  payoutMethodsByIds,
} from './repository.ts'

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
  const name = nameOf({ merchantId, owner, type, currency })
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

/**
 * The same slice of the payout methods of each of these customers, by the customer's id.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function browsePayoutMethodsOfCustomers(
  context: Context,
  customerIds: readonly string[],
  input: Omit<z.input<typeof BrowsePayoutMethodsInput>, 'owner'>,
): Promise<ReadonlyMap<string, Slice<PayoutMethod>>> {
  const { type, currency, createdFrom, createdBefore, ...slice } = parse(BrowsePayoutMethodsInput, input)
  const { db, merchantId } = context
  const filter = await filterOf(db, merchantId, { owner: 'any', type, currency })
  if (slice.after !== null || slice.before !== null || filter === null) {
    return sliceByKey(customerIds, (customerId) => browsePayoutMethods(context, { ...input, owner: { customerId } }))
  }
  const narrowed = { type: filter.type, currency: filter.currency }
  const parents = new Map(customerIds.map((ownerId) => [listName({ ...filter, ownerId }), ownerId]))
  return slicesOfEach<PayoutMethod>(
    {
      parentIds: customerIds,
      parentIdOf: ({ ownerId }) => ownerId,
      nameOf: (customerId) => nameOf({ merchantId, owner: { customerId }, type, currency }),
      sequenceOf: ({ ownerSequence }) => ownerSequence,
      created: { createdFrom, createdBefore },
      rows: async (range) => {
        const ids = await payoutMethodIdsOfCustomers(db, { merchantId, ...narrowed, ...range })
        return (await payoutMethodsByIds(db, { merchantId, ids: ids.map(({ id }) => id) })).map(payoutMethodOf)
      },
      counts: (range) => payoutMethodCountsOfCustomers(db, { merchantId, ...narrowed, ...range }),
      keptTotals: () => countsByParent(db, { merchantId, parents }),
    },
    slice,
  )
}

function nameOf(list: {
  merchantId: string
  owner: OwnerFilter
  type: PayoutMethodType | null
  currency: string | null
}): readonly unknown[] {
  return ['payout_methods', list]
}
