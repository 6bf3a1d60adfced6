import { defineList, omitNulls } from '../../lists/define-list.ts'
import { customerConditions, filterByEnum, filterById, filterByOwner, filterByText } from '../../lists/filters.ts'
import { payoutAssetCodes, payoutStatuses, recipientCurrencies } from './payout.ts'

export const payouts = defineList({
  name: 'payouts',
  noun: 'Payout',
  table: 'payouts',
  select: (payouts) => payouts.selectAll('payouts'),
  order: 'payouts.sequence',
  createdAt: 'payouts.createdAt',
  conditions: {
    customerId: { column: 'payouts.customerId', parentTable: 'customers' },
    // `customerId` is `null` in the merchant's own payouts.
    isMerchantOwned: { column: 'payouts.customerId', operator: 'is null' },
    walletId: { column: 'payouts.walletId', parentTable: 'wallets' },
    status: { column: 'payouts.status' },
    assetCode: { column: 'payouts.assetCode' },
    recipientCurrency: { column: 'payouts.recipientCurrency' },
  },
  // The lists of statuses, assets and currencies must be complete. A payout with an unlisted value would be missing
  // from filtered lists.
  mergedBy: { status: payoutStatuses, assetCode: payoutAssetCodes, recipientCurrency: recipientCurrencies },
  filters: {
    owner: filterByOwner("Only payouts from one customer's wallets, or from the merchant's own.", {
      description:
        'Only payouts for this customer, or with `null` only the merchant’s own. An unknown customer has none.',
    }),
    walletId: filterById('Wallet', 'Only payouts from this wallet, by global id or UUID.'),
    status: filterByEnum(payoutStatuses, 'Only payouts with this status.'),
    assetCode: filterByText('Only payouts from this stablecoin, such as `USDC`.', {
      name: 'currency',
      description: 'Only payouts from this stablecoin, such as `USDC`. An unknown one matches nothing.',
    }),
    recipientCurrency: filterByText('Only payouts in this recipient currency, such as `NGN`.', null),
  },
  toConditions: ({ owner, ...others }) => ({
    ...customerConditions(owner),
    ...omitNulls(others),
  }),
  customerCondition: 'customerId',
  parents: {
    customer: { field: 'owner', toFilterValue: (customerId) => ({ customerId }), condition: 'customerId' },
    wallet: { field: 'walletId', toFilterValue: (walletId) => walletId, condition: 'walletId' },
  },
  numberedBy: 'payouts',
})
