import { sql } from 'kysely'
import type { AssetType } from '../asset-codes/asset-code.ts'
import type { RangeParams } from '../database/created-range.ts'
import { rangeFilters } from '../database/created-range.ts'
import { countsOfEach, createdConditions, idsOfEach } from '../database/each.ts'
import type { Params } from '../database/query.ts'
import { acrossMerchants, from, insertRow, list, query, queryOne, queryWithFilters } from '../database/query.ts'
import type { Amount } from '../money/amount.ts'

type WalletKey = { merchantId: string; id: string }

type OwnerPage = { merchantId: string; ownerId: string; fromSequence: number; skip: number; limit: number }

const withBalance = (wallets: ReturnType<typeof walletsInRange>) =>
  wallets
    .innerJoin('accounts', (join) =>
      join.onRef('accounts.merchantId', '=', 'wallets.merchantId').onRef('accounts.id', '=', 'wallets.id'),
    )
    .selectAll('wallets')
    // A wallet's account always has a balance; the column is NULL for clearing accounts only.
    .select((eb) => eb.ref('accounts.balance').$notNull().as('balance'))

const walletsWithBalance = () => withBalance(from('wallets'))

export const insertWallet = insertRow('wallets')

export const insertWalletAddress = insertRow('walletAddresses')

export const walletById = queryOne((p: Params<WalletKey>) =>
  walletsWithBalance().where('wallets.merchantId', '=', p.merchantId).where('wallets.id', '=', p.id),
)

/** The addresses of a wallet, oldest first. */
export const addressesOfWallet = query((p: Params<{ merchantId: string; walletId: string }>) =>
  from('walletAddresses')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('walletId', '=', p.walletId)
    .orderBy('id'),
)

/** The addresses of the wallets among `walletIds`, oldest first. */
export const addressesOfWallets = query((p: Params<{ merchantId: string; walletIds: readonly string[] }>) =>
  from('walletAddresses')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('walletId', 'in', list(p.walletIds))
    .orderBy('walletId')
    .orderBy('id'),
)

/** An owner's wallets numbered `fromSequence` and below, newest first. */
export const walletsDownFrom = queryWithFilters(
  ['assetType', 'currency'],
  (p: Params<OwnerPage & { assetType: AssetType; currency: string }>, has) => {
    let wallets = walletsWithBalance()
      .where('wallets.merchantId', '=', p.merchantId)
      .where('wallets.ownerId', '=', p.ownerId)
      .where('wallets.ownerSequence', '<=', p.fromSequence)
    if (has('assetType')) wallets = wallets.where('wallets.assetType', '=', p.assetType)
    if (has('currency')) wallets = wallets.where('wallets.currency', '=', p.currency)
    return wallets.orderBy('wallets.ownerSequence', 'desc').limit(p.limit).offset(p.skip)
  },
)

/** The merchant's wallets among `ids`, in any order; another merchant's are not found. */
export const walletsByIds = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  walletsWithBalance().where('wallets.merchantId', '=', p.merchantId).where('wallets.id', 'in', list(p.ids)),
)

/** The addresses among `ids`, in any order. */
export const walletAddressesByIds = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  from('walletAddresses').selectAll().where('merchantId', '=', p.merchantId).where('id', 'in', list(p.ids)),
)

type BrowsedRange = RangeParams & { merchantId: string; ownerId: string; assetType: AssetType; currency: string }

const browseFilters = ['ownerId', 'assetType', 'currency', ...rangeFilters] as const
type BrowseFilter = (typeof browseFilters)[number]

/** The wallets in a range of the merchant's numbers, or of the owner's own when one is given. */
function walletsInRange(p: Params<BrowsedRange>, has: (filter: BrowseFilter) => boolean) {
  const sequence = sequenceOfList(has)
  let wallets = from('wallets')
    .where('wallets.merchantId', '=', p.merchantId)
    .where(sequence, '>', p.above)
    .where(sequence, '<', p.below)
  if (has('ownerId')) wallets = wallets.where('wallets.ownerId', '=', p.ownerId)
  if (has('assetType')) wallets = wallets.where('wallets.assetType', '=', p.assetType)
  if (has('currency')) wallets = wallets.where('wallets.currency', '=', p.currency)
  if (has('createdFrom')) wallets = wallets.where('wallets.createdAt', '>=', p.createdFrom)
  if (has('createdBefore')) wallets = wallets.where('wallets.createdAt', '<', p.createdBefore)
  return wallets
}

function sequenceOfList(has: (filter: 'ownerId') => boolean) {
  return has('ownerId') ? 'wallets.ownerSequence' : 'wallets.sequence'
}

/** The wallets in a range, newest first unless `isAscending`. */
export const browsedWallets = queryWithFilters(browseFilters, (p: Params<BrowsedRange>, has) =>
  withBalance(walletsInRange(p, has))
    .orderBy(sequenceOfList(has), has('isAscending') ? 'asc' : 'desc')
    .limit(p.limit),
)

/** How many wallets a range has, of which at most `limit` are looked at. */
export const countBrowsedWallets = queryWithFilters(browseFilters, (p: Params<BrowsedRange>, has) =>
  from(walletsInRange(p, has).select(sequenceOfList(has)).limit(p.limit).as('counted')).select(
    sql<number>`count(*)`.as('rowCount'),
  ),
)

/** The number and time of the wallet at or below a number, the merchant's or the owner's own. */
export const walletMarks = queryWithFilters(
  ['ownerId'],
  (p: Params<{ merchantId: string; ownerId: string; fromSequence: number }>, has) => {
    const sequence = sequenceOfList(has)
    let wallets = from('wallets').where('wallets.merchantId', '=', p.merchantId)
    if (has('ownerId')) wallets = wallets.where('wallets.ownerId', '=', p.ownerId)
    return wallets
      .where(sequence, '<=', p.fromSequence)
      .select([`${sequence} as sequence`, 'wallets.createdAt'])
      .orderBy(sequence, 'desc')
      .limit(1)
  },
)

/** All of the merchant's wallets and its customers', oldest first; for bulk work, not for a request. */
export const walletsOfMerchant = query((p: Params<{ merchantId: string }>) =>
  walletsWithBalance().where('wallets.merchantId', '=', p.merchantId).orderBy('wallets.sequence'),
)

/** The owner's oldest active wallet in a currency, among those with at least `balance`. */
export const oldestWalletWith = queryOne(
  (p: Params<{ merchantId: string; ownerId: string; currency: string; balance: Amount }>) =>
    walletsWithBalance()
      .where('wallets.merchantId', '=', p.merchantId)
      .where('wallets.ownerId', '=', p.ownerId)
      .where('wallets.currency', '=', p.currency)
      .where('wallets.status', '=', 'active')
      .where('accounts.balance', '>=', p.balance)
      .orderBy('wallets.ownerSequence')
      .limit(1),
)

/** The merchant of a wallet, for an operator who has nothing but the wallet's id: one look per merchant. */
export const merchantOfWallet = queryOne((p: Params<{ id: string }>) =>
  acrossMerchants(
    from('merchants')
      .crossJoin('wallets')
      .whereRef('wallets.merchantId', '=', 'merchants.id')
      .where('wallets.id', '=', p.id)
      .select('merchants.id'),
  ),
)

export const insertPooledAddress = insertRow('pooledAddresses')

export const pooledAddress = queryOne((p: Params<{ merchantId: string; family: 'solana'; sequence: number }>) =>
  from('pooledAddresses')
    .select('address')
    .where('merchantId', '=', p.merchantId)
    .where('family', '=', p.family)
    .where('sequence', '=', p.sequence),
)

/** The merchant whose pool has an address, whoever that is; an operator's view: one look per merchant. */
export const merchantOfPooledAddress = queryOne((p: Params<{ family: 'solana'; address: string }>) =>
  acrossMerchants(
    from('merchants')
      .crossJoin('pooledAddresses')
      .whereRef('pooledAddresses.merchantId', '=', 'merchants.id')
      .where('pooledAddresses.family', '=', p.family)
      .where('pooledAddresses.address', '=', p.address)
      .select('merchants.id'),
  ),
)

export const depositByReference = queryOne((p: Params<{ merchantId: string; reference: string }>) =>
  from('deposits').selectAll().where('merchantId', '=', p.merchantId).where('reference', '=', p.reference),
)

export const insertDeposit = insertRow('deposits')

const walletsOfCustomers = {
  parents: 'customers',
  table: 'wallets',
  parentColumn: 'owner_id',
  sequenceColumn: 'owner_sequence',
  idColumn: 'id',
  conditions: {
    assetType: (type: unknown) => sql`items.asset_type = ${type}`,
    currency: (currency: unknown) => sql`items.currency = ${currency}`,
    ...createdConditions,
  },
}

/** Up to `limit` wallets of each customer, from one end of its list. */
export const walletIdsOfCustomers = idsOfEach(walletsOfCustomers)

/** How many wallets each customer has, of which at most `limit` are looked at. */
export const walletCountsOfCustomers = countsOfEach(walletsOfCustomers)
