import { defineList, omitNulls } from '../../lists/define-list.ts'
import { filterByEnum, filterById, filterByOwner, filterByText } from '../../lists/filters.ts'
import { payoutAssetCodes, payoutStatuses, recipientCurrencies } from './payout.ts'

/** The payouts of the merchant and of its customers. */
export const payouts = defineList({
  name: 'payouts',
  noun: 'Payout',
  table: 'payouts',
  select: (payouts) => payouts.selectAll('payouts'),
  order: 'payouts.sequence',
  createdAt: 'payouts.createdAt',
  conditions: {
    customerId: { column: 'payouts.customerId', parentTable: 'customers' },
    // A payout has no `ownerId`: the merchant's own are those of no customer.
    isMerchantOwned: { column: 'payouts.customerId', operator: 'is null' },
    walletId: { column: 'payouts.walletId', parentTable: 'wallets' },
    status: { column: 'payouts.status' },
    assetCode: { column: 'payouts.assetCode' },
    recipientCurrency: { column: 'payouts.recipientCurrency' },
  },
  // Whatever else has been paid from or to stays among these, or its payouts are not found by the other two.
  mergedBy: { status: payoutStatuses, assetCode: payoutAssetCodes, recipientCurrency: recipientCurrencies },
  filters: {
    owner: filterByOwner("Only payouts from one customer's wallets, or from the merchant's own.", {
      description:
        'Only payouts for this customer, or with `null` only the merchant’s own. A customer that is not known has none.',
    }),
    walletId: filterById('Wallet', 'Only payouts from this wallet: its global id, or its UUID.'),
    status: filterByEnum(payoutStatuses, 'Only payouts in this status.'),
    assetCode: filterByText('Only payouts from this stablecoin, such as `USDC`.', {
      name: 'currency',
      description: 'Only payouts of this stablecoin, such as `USDC`; one that is not known matches nothing.',
    }),
    recipientCurrency: filterByText('Only payouts that arrive in this currency, such as `NGN`.', null),
  },
  toConditions: ({ owner, ...asked }) => ({
    ...(typeof owner === 'object' ? owner : { any: {}, merchant: { isMerchantOwned: true } }[owner]),
    ...omitNulls(asked),
  }),
  customerCondition: 'customerId',
  parents: {
    customer: { field: 'owner', toFilterValue: (customerId) => ({ customerId }), condition: 'customerId' },
    wallet: { field: 'walletId', toFilterValue: (walletId) => walletId, condition: 'walletId' },
  },
  numberedBy: 'payouts',
})
