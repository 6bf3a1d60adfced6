import { defineList, omitNulls } from '../../lists/define-list.ts'
import { customerConditions, filterByOwner, filterByText } from '../../lists/filters.ts'
import type { Deposit } from '../wallets/deposit-to-wallet.ts'
import type { ChainDeposit } from './chain-deposit.ts'
import { joinReversalAndChain } from './repository.ts'

/**
 * `id` is the id of the ledger transfer. `network` and `txHash` are `null` if the deposit did not come from a
 * blockchain.
 */
export type ListedDeposit = Deposit & {
  readonly id: string
  readonly reversedAt: string | null
  readonly network: ChainDeposit['network'] | null
  readonly txHash: string | null
}

export const deposits = defineList({
  name: 'deposits',
  noun: 'Deposit',
  table: 'deposits',
  joins: joinReversalAndChain,
  select: (rows) =>
    rows
      .selectAll('deposits')
      .select(['deposits.transferId as id', 'depositReversals.createdAt as reversedAt'])
      .select(['chainDeposits.network', 'chainDeposits.txHash']),
  id: 'deposits.transferId',
  order: 'deposits.sequence',
  createdAt: 'deposits.createdAt',
  conditions: {
    customerId: { column: 'deposits.customerId' },
    isMerchantOwned: { column: 'deposits.customerId', operator: 'is null' },
    assetCode: { column: 'deposits.assetCode' },
  },
  filters: {
    owner: filterByOwner('Only deposits to one customer’s wallets, or to the merchant’s own.'),
    assetCode: filterByText('Only deposits in this asset, such as `USDC`.'),
  },
  toConditions: ({ owner, ...others }) => ({
    ...customerConditions(owner),
    ...omitNulls(others),
  }),
  customerCondition: 'customerId',
  numberedBy: 'deposits',
})
