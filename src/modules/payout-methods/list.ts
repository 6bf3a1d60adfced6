import { defineList, omitNulls } from '../../lists/define-list.ts'
import { filterByEnum, filterByOwner, filterByText, ownerIdOf } from '../../lists/filters.ts'
import type { AssetType } from '../asset-codes/asset-code.ts'
import { assetCodeByCode } from '../asset-codes/repository.ts'
import type { PayoutMethod, PayoutMethodType } from './payout-method.ts'
import { listedColumns, payoutMethodTypes } from './payout-method.ts'

const typeOfAsset: Record<AssetType, PayoutMethodType> = { FIAT: 'BANK', STABLECOIN: 'WALLET' }

/** The payout methods of the merchant and its customers, of both types. */
export const payoutMethods = defineList({
  name: 'payout_methods',
  importedAs: 'payout_methods',
  noun: 'Payout method',
  table: 'payoutMethods',
  // A CHECK constraint of the table guarantees the columns of each type.
  select: (methods) => methods.selectAll('payoutMethods').$castTo<PayoutMethod>(),
  order: 'payoutMethods.sequence',
  createdAt: 'payoutMethods.createdAt',
  conditions: {
    ownerId: { column: 'payoutMethods.ownerId', order: 'payoutMethods.ownerSequence', parentTable: 'customers' },
    type: { column: 'payoutMethods.type' },
    currency: { column: 'payoutMethods.currency' },
  },
  filters: {
    owner: filterByOwner("Only methods of one customer, or only the merchant's own.", {
      description:
        'Only methods of this customer, or with `null` only the merchant’s own. An unknown customer has none.',
    }),
    type: filterByEnum(payoutMethodTypes, 'Only bank accounts, or only crypto addresses.'),
    currency: filterByText('Only methods in this currency or stablecoin, such as `NGN`.', {
      description: 'Only methods in this currency or stablecoin, such as `NGN`. An unknown one matches nothing.',
    }),
  },
  toConditions: async ({ owner, type, currency, ...others }, context) => {
    const ownerId = ownerIdOf(owner, context)
    if (currency === null) return { ownerId, type: type ?? undefined, ...omitNulls(others) }
    // A currency implies the type, so a filter by another type matches nothing.
    const asset = type === null ? null : await assetCodeByCode(context.db, { code: currency })
    const implied = asset && typeOfAsset[asset.assetType]
    return implied === type ? { ownerId, currency, ...omitNulls(others) } : null
  },
  customerCondition: 'ownerId',
  previousCursors: {
    owner: (owner) => ({ owner }),
    type: (type) => ({ type }),
    currency: (currency) => ({ currency }),
  },
  parents: { customer: { field: 'owner', toFilterValue: (customerId) => ({ customerId }), condition: 'ownerId' } },
  countedScopes: [
    { parent: null, conditionLabels: { type: 'type', currency: 'currency' } },
    { parent: { condition: 'ownerId', label: 'owner' }, conditionLabels: { type: 'type', currency: 'currency' } },
  ],
  pageColumns: listedColumns,
})
