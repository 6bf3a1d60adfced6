import { z } from 'zod'
import type { AssetType } from '../asset-codes/asset-code.ts'
import { assetTypes } from '../asset-codes/asset-code.ts'
import type { Context } from '../context.ts'
import { ownerFilter, ownerIdOf } from '../customers/owner.ts'
import { countOfList, countsByParent } from '../database/counted-list.ts'
import { sequencedList } from '../database/created-range.ts'
import { latestInSequence } from '../database/sequence.ts'
import { sliceByKey, slicesOfEach } from '../database/slices-of-each.ts'
import { createdFields, oneOf, optional, optionalText, parse } from '../input.ts'
import type { Slice } from '../slice.ts'
import { listInMemory, sliceFields, sliceOf } from '../slice.ts'
import { canMatch, listName } from './list-wallets.ts'
import {
  browsedWallets,
  countBrowsedWallets,
  walletCountsOfCustomers,
  walletIdsOfCustomers,
  walletMarks,
  walletsByIds,
} from './repository.ts'
import type { WalletRow } from './wallet.ts'
import { walletStatuses } from './wallet.ts'

export const BrowseWalletsInput = z.object({
  owner: ownerFilter(),
  status: optional(oneOf(walletStatuses)),
  assetType: optional(oneOf(assetTypes)),
  currency: optionalText(),
  ...createdFields,
  ...sliceFields,
})

/**
 * A slice of the merchant's and its customers' wallets, newest first.
 *
 * @param input `createdFrom` inclusive and `createdBefore` exclusive, in ISO 8601; an unknown customer or currency matches
 *   nothing
 * @throws Refusal INVALID_INPUT
 */
export async function browseWallets(
  context: Context,
  input: z.input<typeof BrowseWalletsInput>,
): Promise<Slice<WalletRow>> {
  const { db, merchantId } = context
  const { owner, status, assetType, currency, createdFrom, createdBefore, ...slice } = parse(BrowseWalletsInput, input)
  const ownerId = ownerIdOf(owner, context)
  const name = nameOf({ merchantId, ownerId, assetType, currency })
  if (!(await canMatch(context, { status, assetType, currency })))
    return sliceOf(listInMemory<WalletRow>(name, []), slice)

  // A currency implies its type of asset, so the narrower of the two decides.
  const narrowed = currency !== null ? { currency } : { assetType: assetType ?? undefined }
  const filter = { merchantId, ownerId, ...narrowed }
  const list = sequencedList<WalletRow>({
    name,
    created: { createdFrom, createdBefore },
    sequenceOf: (wallet) => (ownerId === undefined ? wallet.sequence : wallet.ownerSequence),
    markAt: async (fromSequence) => (await walletMarks(db, { merchantId, ownerId, fromSequence }))[0] ?? null,
    rows: (range) => browsedWallets(db, { ...filter, ...range }),
    count: (range) => countBrowsedWallets(db, { ...filter, ...range }),
    keptTotal: keptTotal(context, ownerId, narrowed),
  })
  return sliceOf(list, slice)
}

/** All wallets are numbered densely, an owner's are counted; the others of one kind are not. */
function keptTotal(
  { db, merchantId }: Context,
  ownerId: string | undefined,
  narrowed: { currency?: string | undefined; assetType?: AssetType | undefined },
): (() => Promise<number>) | null {
  if (ownerId !== undefined) return () => countOfList(db, { merchantId, list: listName(ownerId, narrowed) })
  if (narrowed.currency !== undefined || narrowed.assetType !== undefined) return null
  return async () => (await latestInSequence(db, { merchantId, name: 'wallets' }))?.latest ?? 0
}

/**
 * The same slice of the wallets of each of these customers, by the customer's id.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function browseWalletsOfCustomers(
  context: Context,
  customerIds: readonly string[],
  input: Omit<z.input<typeof BrowseWalletsInput>, 'owner'>,
): Promise<ReadonlyMap<string, Slice<WalletRow>>> {
  const { status, assetType, currency, createdFrom, createdBefore, ...slice } = parse(BrowseWalletsInput, input)
  const { db, merchantId } = context
  const hasMatches = await canMatch(context, { status, assetType, currency })
  if (slice.after !== null || slice.before !== null || !hasMatches) {
    return sliceByKey(customerIds, (customerId) => browseWallets(context, { ...input, owner: { customerId } }))
  }
  const narrowed = currency !== null ? { currency } : { assetType: assetType ?? undefined }
  const parents = new Map(customerIds.map((id) => [listName(id, narrowed), id]))
  return slicesOfEach<WalletRow>(
    {
      parentIds: customerIds,
      parentIdOf: ({ ownerId }) => ownerId,
      nameOf: (ownerId) => nameOf({ merchantId, ownerId, assetType, currency }),
      sequenceOf: ({ ownerSequence }) => ownerSequence,
      created: { createdFrom, createdBefore },
      rows: async (range) => {
        const ids = await walletIdsOfCustomers(db, { merchantId, ...narrowed, ...range })
        return walletsByIds(db, { merchantId, ids: ids.map(({ id }) => id) })
      },
      counts: (range) => walletCountsOfCustomers(db, { merchantId, ...narrowed, ...range }),
      keptTotals: () => countsByParent(db, { merchantId, parents }),
    },
    slice,
  )
}

function nameOf(list: {
  merchantId: string
  ownerId: string | undefined
  assetType: AssetType | null
  currency: string | null
}): readonly unknown[] {
  return ['wallets', list]
}
