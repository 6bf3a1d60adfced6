import { defineList, omitNulls } from '../../lists/define-list.ts'
import { filterByLenientEnum, filterByOwner, filterByText, ownerIdOf } from '../../lists/filters.ts'
import { assetTypes } from '../asset-codes/asset-code.ts'
import { assetCodeByCode } from '../asset-codes/repository.ts'
import { selectWallets } from './repository.ts'
import { walletStatuses } from './wallet.ts'

/** The wallets of the merchant and of its customers. */
export const wallets = defineList({
  name: 'wallets',
  noun: 'Wallet',
  table: 'wallets',
  select: selectWallets,
  order: 'wallets.sequence',
  createdAt: 'wallets.createdAt',
  conditions: {
    ownerId: { column: 'wallets.ownerId', order: 'wallets.ownerSequence', parentTable: 'customers' },
    assetType: { column: 'wallets.assetType' },
    currency: { column: 'wallets.currency' },
  },
  filters: {
    // Each endpoint says itself whose it lists.
    owner: filterByOwner("Only one customer's, or the merchant's own.", null),
    status: filterByLenientEnum(
      walletStatuses,
      'Only wallets in this status.',
      'Only wallets in this status, such as `active`.',
    ),
    assetType: filterByLenientEnum(
      assetTypes,
      'Only wallets that hold this kind of money.',
      'Only wallets that hold this kind of money: `FIAT` or `STABLECOIN`.',
    ),
    currency: filterByText('Only wallets that hold this asset, such as `USDC`.'),
  },
  toConditions: async ({ owner, status, assetType, currency, ...others }, context) => {
    const ownerId = ownerIdOf(owner, context)
    // Every wallet is active: the contract knows no other status.
    if (status !== null && status !== 'active') return null
    if (currency === null) return { ownerId, assetType: assetType ?? undefined, ...omitNulls(others) }
    // A currency implies its type of asset, so it decides.
    const asset = assetType === null ? null : await assetCodeByCode(context.db, { code: currency })
    return asset?.assetType === (assetType ?? undefined) ? { ownerId, currency, ...omitNulls(others) } : null
  },
  customerCondition: 'ownerId',
  previousCursors: {
    owner: (owner, context) => ({ ownerId: ownerIdOf(owner, context) }),
    // The only status let every wallet through.
    status: () => ({}),
    assetType: (assetType) => ({ assetType }),
    currency: (currency) => ({ currency }),
  },
  parents: { customer: { field: 'owner', toFilterValue: (customerId) => ({ customerId }), condition: 'ownerId' } },
  numberedBy: 'wallets',
  countedScopes: [
    { parent: { condition: 'ownerId', label: 'owner' }, conditionLabels: { assetType: 'type', currency: 'currency' } },
  ],
  // The contract's samples show pages of ten.
  pageSize: 10,
})
