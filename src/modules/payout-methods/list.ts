import { defineList, omitNulls } from '../../lists/define-list.ts'
import { filterByEnum, filterByOwner, filterByText, ownerIdOf } from '../../lists/filters.ts'
import { assetCodeByCode } from '../asset-codes/repository.ts'
import type { PayoutMethod } from './payout-method.ts'
import { assetTypeOfMethod, listedColumns, payoutMethodTypes } from './payout-method.ts'

export const payoutMethods = defineList({
  name: 'payout_methods',
  importedAs: 'payout_methods',
  noun: 'Payout method',
  table: 'payoutMethods',
  // The cast is safe, because a CHECK constraint enforces which columns each type of payout method has.
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
    type: filterByEnum(payoutMethodTypes, 'Only methods of this type.'),
    currency: filterByText('Only methods in this currency or stablecoin, such as `NGN`.', {
      description: 'Only methods in this currency or stablecoin, such as `NGN`. An unknown one matches nothing.',
    }),
  },
  toConditions: async ({ owner, type, currency, ...others }, context) => {
    const ownerId = ownerIdOf(owner, context)
    if (currency === null) return { ownerId, type: type ?? undefined, ...omitNulls(others) }
    const conditions = { ownerId, currency, ...omitNulls(others) }
    if (type === null) return conditions
    // A currency determines the type of payout method, so a filter by a currency and by a different type matches
    // nothing.
    const asset = await assetCodeByCode(context.db, { code: currency })
    return asset?.assetType === assetTypeOfMethod[type] ? conditions : null
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
