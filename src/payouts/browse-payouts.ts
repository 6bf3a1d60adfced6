import { z } from 'zod'
import type { Context } from '../context.ts'
import type { OwnerFilter } from '../customers/owner.ts'
import { ownerFilter } from '../customers/owner.ts'
import { sequencedList } from '../database/created-range.ts'
import { latestInSequence } from '../database/sequence.ts'
import { sliceByKey, slicesOfEach } from '../database/slices-of-each.ts'
import { createdFields, oneOf, optional, optionalText, parse, whoseId } from '../input.ts'
import type { Slice } from '../slice.ts'
import { sliceFields, sliceOf } from '../slice.ts'
import type { Payout } from './payout.ts'
import { payoutStatuses } from './payout.ts'
import {
  browsedPayouts,
  countBrowsedPayouts,
  payoutCountsOfCustomers,
  payoutCountsOfWallets,
  payoutIdsOfCustomers,
  payoutIdsOfWallets,
  payoutMark,
  payoutsByIds,
} from './repository.ts'

export const BrowsePayoutsInput = z.object({
  owner: ownerFilter(),
  walletId: whoseId(),
  status: optional(oneOf(payoutStatuses)),
  assetCode: optionalText(),
  recipientCurrency: optionalText(),
  ...createdFields,
  ...sliceFields,
})

/**
 * A slice of the merchant's and its customers' payouts, newest first.
 *
 * @param input `createdFrom` inclusive and `createdBefore` exclusive, in ISO 8601; an unknown customer, wallet, asset or
 *   currency matches nothing
 * @throws Refusal INVALID_INPUT
 */
export async function browsePayouts(
  { db, merchantId }: Context,
  input: z.input<typeof BrowsePayoutsInput>,
): Promise<Slice<Payout>> {
  const { createdFrom, createdBefore, first, after, last, before, ...asked } = parse(BrowsePayoutsInput, input)
  const filter = { merchantId, ...filterOf(asked) }
  const isFiltered = Object.values(filterOf(asked)).some((value) => value !== undefined)
  const list = sequencedList<Payout>({
    name: ['payouts', filter],
    created: { createdFrom, createdBefore },
    sequenceOf: ({ sequence }) => sequence,
    markAt: (fromSequence) => payoutMark(db, { merchantId, fromSequence }),
    rows: (range) => browsedPayouts(db, { ...filter, ...range }),
    count: (range) => countBrowsedPayouts(db, { ...filter, ...range }),
    keptTotal: isFiltered
      ? null
      : async () => (await latestInSequence(db, { merchantId, name: 'payouts' }))?.latest ?? 0,
  })
  return sliceOf(list, { first, after, last, before })
}

type Asked = Pick<
  z.output<typeof BrowsePayoutsInput>,
  'owner' | 'walletId' | 'status' | 'assetCode' | 'recipientCurrency'
>

/** The columns that the filters of a list compare. */
export function filterOf({ owner, walletId, status, assetCode, recipientCurrency }: Asked) {
  return {
    ...ownerColumns(owner),
    walletId: walletId ?? undefined,
    status: status ?? undefined,
    assetCode: assetCode ?? undefined,
    recipientCurrency: recipientCurrency ?? undefined,
  }
}

/** A payout has no `ownerId`: the merchant's own are those of no customer. */
function ownerColumns(owner: OwnerFilter): { customerId?: string; isMerchantOwned?: true } {
  if (owner === 'any') return {}
  return owner === 'merchant' ? { isMerchantOwned: true } : { customerId: owner.customerId }
}

type EachInput = Omit<z.input<typeof BrowsePayoutsInput>, 'owner' | 'walletId'>

/**
 * The same slice of the payouts of each of these customers, by the customer's id.
 *
 * @throws Refusal INVALID_INPUT
 */
export function browsePayoutsOfCustomers(
  context: Context,
  customerIds: readonly string[],
  input: EachInput,
): Promise<ReadonlyMap<string, Slice<Payout>>> {
  return browseEach(context, customerIds, input, {
    inputOf: (customerId) => ({ ...input, owner: { customerId } }),
    parentIdOf: ({ customerId }) => customerId ?? '',
    filterOf: (customerId) => ({ owner: { customerId }, walletId: null }),
    ids: payoutIdsOfCustomers,
    counts: payoutCountsOfCustomers,
  })
}

/**
 * The same slice of the payouts from each of these wallets, by the wallet's id.
 *
 * @throws Refusal INVALID_INPUT
 */
export function browsePayoutsOfWallets(
  context: Context,
  walletIds: readonly string[],
  input: EachInput,
): Promise<ReadonlyMap<string, Slice<Payout>>> {
  return browseEach(context, walletIds, input, {
    inputOf: (walletId) => ({ ...input, walletId }),
    parentIdOf: ({ walletId }) => walletId,
    filterOf: (walletId) => ({ owner: 'any', walletId }),
    ids: payoutIdsOfWallets,
    counts: payoutCountsOfWallets,
  })
}

type Parents = {
  /** What asks for one parent's list alone. */
  readonly inputOf: (parentId: string) => z.input<typeof BrowsePayoutsInput>
  readonly parentIdOf: (payout: Payout) => string
  readonly filterOf: (parentId: string) => Pick<Asked, 'owner' | 'walletId'>
  readonly ids: typeof payoutIdsOfCustomers
  readonly counts: typeof payoutCountsOfCustomers
}

async function browseEach(
  context: Context,
  parentIds: readonly string[],
  input: EachInput,
  parents: Parents,
): Promise<ReadonlyMap<string, Slice<Payout>>> {
  const { db, merchantId } = context
  const { createdFrom, createdBefore, first, after, last, before, ...asked } = parse(BrowsePayoutsInput, input)
  if (after !== null || before !== null) {
    return sliceByKey(parentIds, (parentId) => browsePayouts(context, parents.inputOf(parentId)))
  }
  const filter = filterOf({ ...asked, owner: 'any', walletId: null })
  return slicesOfEach<Payout>(
    {
      parentIds,
      parentIdOf: parents.parentIdOf,
      nameOf: (parentId) => ['payouts', { merchantId, ...filterOf({ ...asked, ...parents.filterOf(parentId) }) }],
      sequenceOf: ({ sequence }) => sequence,
      created: { createdFrom, createdBefore },
      rows: async (range) => {
        const ids = await parents.ids(db, { merchantId, ...filter, ...range })
        return payoutsByIds(db, { merchantId, ids: ids.map(({ id }) => id) })
      },
      counts: (range) => parents.counts(db, { merchantId, ...filter, ...range }),
    },
    { first, last },
  )
}
