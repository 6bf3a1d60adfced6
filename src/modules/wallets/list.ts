import { defineList, omitNulls } from '../../lists/define-list.ts'
import { filterByLenientEnum, filterByOwner, filterByText, ownerIdOf } from '../../lists/filters.ts'
import { assetTypes } from '../asset-codes/asset-code.ts'
import { assetCodeByCode } from '../asset-codes/repository.ts'
import { selectWallets } from './repository.ts'
import { walletStatuses } from './wallet.ts'

export const wallets = defineList({
  name: 'wallets',
  importedAs: 'wallets',
  noun: 'Wallet',
  table: 'wallets',
  select: selectWallets,
  order: 'wallets.sequence',
  createdAt: 'wallets.createdAt',
  conditions: {
    ownerId: { column: 'wallets.ownerId', order: 'wallets.ownerSequence', parentTable: 'customers' },
    assetType: { column: 'wallets.assetType' },
    currency: { column: 'wallets.currency' },
    status: { column: 'wallets.status' },
  },
  filters: {
    owner: filterByOwner("Only the wallets of one customer, or the merchant's own.", {
      description:
        'Only the wallets of this customer, or with `null` only the merchant’s own. An unknown customer has none.',
    }),
    status: filterByLenientEnum(
      walletStatuses,
      'Only wallets in this status.',
      'Only wallets in this status, such as `active`.',
    ),
    assetType: filterByLenientEnum(
      assetTypes,
      'Only wallets for this type of asset.',
      'Only wallets for this type of asset: `FIAT` or `STABLECOIN`.',
    ),
    currency: filterByText('Only wallets for this asset, such as `USDC`.'),
  },
  toConditions: async ({ owner, assetType, currency, ...others }, context) => {
    const ownerId = ownerIdOf(owner, context)
    if (currency === null) return { ownerId, assetType: assetType ?? undefined, ...omitNulls(others) }
    // A currency determines the asset type, so a filter by a currency and by a different asset type matches nothing.
    const asset = assetType === null ? null : await assetCodeByCode(context.db, { code: currency })
    return asset?.assetType === (assetType ?? undefined) ? { ownerId, currency, ...omitNulls(others) } : null
  },
  customerCondition: 'ownerId',
  previousCursors: {
    owner: (owner, context) => ({ ownerId: ownerIdOf(owner, context) }),
    status: () => ({}),
    assetType: (assetType) => ({ assetType }),
    currency: (currency) => ({ currency }),
  },
  parents: { customer: { field: 'owner', toFilterValue: (customerId) => ({ customerId }), condition: 'ownerId' } },
  numberedBy: 'wallets',
  countedScopes: [
    { parent: { condition: 'ownerId', label: 'owner' }, conditionLabels: { assetType: 'type', currency: 'currency' } },
  ],
  // The sample queries in the API contract have pages of ten wallets.
  pageSize: 10,
})
