import { addField, computedField, exposeColumn, objectType, relatedListField } from '../../graphql/schema/fields.ts'
import { sourceByForeignKey } from '../../graphql/schema/loader.ts'
import { NetworkEnum } from '../networks/graphql.ts'
import { requiredConfirmations } from '../networks/network.ts'
import { Wallet } from '../wallets/graphql.ts'
import type { PendingDeposit as PendingDepositRow } from './find-pending-deposits.ts'
import { findPendingDeposits, maxPendingDeposits } from './find-pending-deposits.ts'

const PendingDeposit = objectType<PendingDepositRow>('PendingDeposit', {
  description: 'Money on its way into a wallet: it was seen on the chain, and too little has been built on it yet.',
  fields: {
    network: exposeColumn('network', 'The network that it was seen on.', NetworkEnum),
    txHash: exposeColumn('txHash', 'The transaction, as its network names it.'),
    logIndex: exposeColumn('logIndex', 'Its place among the logs of the transaction.', 'Int'),
    amount: exposeColumn('amount', 'How much, in the currency of the wallet.', 'Amount'),
    confirmations: exposeColumn('confirmations', 'Confirmations that it has so far.', 'Int'),
    needed: computedField('Int', ['network'], 'Confirmations at which it is credited.', ({ network }) =>
      requiredConfirmations(network),
    ),
    detectedAt: exposeColumn('detectedAt', 'When it was first reported.', 'DateTime'),
  },
})

addField(
  Wallet,
  'pendingDeposits',
  relatedListField(
    PendingDeposit,
    sourceByForeignKey(findPendingDeposits, ({ walletId }) => walletId),
    `Deposits that were seen and are not credited yet, the latest first; the latest ${maxPendingDeposits} at most. The chain may still let go of them, and they are not in the balance.`,
  ),
)
