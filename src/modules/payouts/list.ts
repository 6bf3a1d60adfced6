import { byId, byOneOf, byOwner, byText } from '../../lists/filters.ts'
import { defineList, present } from '../../lists/list.ts'
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
    customerId: { column: 'payouts.customerId', parents: 'customers' },
    // A payout has no `ownerId`: the merchant's own are those of no customer.
    isMerchantOwned: { column: 'payouts.customerId', operator: 'is null' },
    walletId: { column: 'payouts.walletId', parents: 'wallets' },
    status: { column: 'payouts.status' },
    assetCode: { column: 'payouts.assetCode' },
    recipientCurrency: { column: 'payouts.recipientCurrency' },
  },
  // Whatever else has been paid from or to stays among these, or its payouts are not found by the other two.
  mergedBy: { status: payoutStatuses, assetCode: payoutAssetCodes, recipientCurrency: recipientCurrencies },
  filters: {
    owner: byOwner("Only payouts from one customer's wallets, or from the merchant's own.", {
      description:
        'Only payouts for this customer, or with `null` only the merchant’s own. A customer that is not known has none.',
    }),
    walletId: byId('Wallet', 'Only payouts from this wallet: its global id, or its UUID.'),
    status: byOneOf(payoutStatuses, 'Only payouts in this status.'),
    assetCode: byText('Only payouts from this stablecoin, such as `USDC`.', {
      name: 'currency',
      description: 'Only payouts of this stablecoin, such as `USDC`; one that is not known matches nothing.',
    }),
    recipientCurrency: byText('Only payouts that arrive in this currency, such as `NGN`.', null),
  },
  conditionsOf: ({ owner, ...asked }) => ({
    ...(typeof owner === 'object' ? owner : { any: {}, merchant: { isMerchantOwned: true } }[owner]),
    ...present(asked),
  }),
  ofCustomer: 'customerId',
  parents: {
    customer: { field: 'owner', asked: (customerId) => ({ customerId }), condition: 'customerId' },
    wallet: { field: 'walletId', asked: (walletId) => walletId, condition: 'walletId' },
  },
  numberedBy: 'payouts',
})
