import { addField, belonging, column, made, objectType } from '../../graphql/schema/fields.ts'
import { sourceOfMany } from '../../graphql/schema/loader.ts'
import { NetworkEnum } from '../networks/graphql.ts'
import { confirmationsNeeded } from '../networks/network.ts'
import { Wallet } from '../wallets/graphql.ts'
import type { PendingDeposit as PendingDepositRow } from './find-pending-deposits.ts'
import { findPendingDeposits, mostPending } from './find-pending-deposits.ts'

const PendingDeposit = objectType<PendingDepositRow>('PendingDeposit', {
  description: 'Money on its way into a wallet: it was seen on the chain, and too little has been built on it yet.',
  fields: {
    network: column('network', 'The network that it was seen on.', NetworkEnum),
    txHash: column('txHash', 'The transaction, as its network names it.'),
    logIndex: column('logIndex', 'Its place among the logs of the transaction.', 'Int'),
    amount: column('amount', 'How much, in the currency of the wallet.', 'Amount'),
    confirmations: column('confirmations', 'Confirmations that it has so far.', 'Int'),
    needed: made('Int', ['network'], 'Confirmations at which it is credited.', ({ network }) =>
      confirmationsNeeded(network),
    ),
    detectedAt: column('detectedAt', 'When it was first reported.', 'DateTime'),
  },
})

addField(
  Wallet,
  'pendingDeposits',
  belonging(
    PendingDeposit,
    sourceOfMany(findPendingDeposits, ({ walletId }) => walletId),
    `Deposits that were seen and are not credited yet, the latest first; the latest ${mostPending} at most. The chain may still let go of them, and they are not in the balance.`,
  ),
)
