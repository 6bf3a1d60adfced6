import { addField, computedField, exposeColumn, objectType, relatedListField } from '../../graphql/schema/fields.ts'
import { sourceByForeignKey } from '../../graphql/schema/loader.ts'
import { NetworkEnum } from '../networks/graphql.ts'
import { requiredConfirmations } from '../networks/network.ts'
import { Wallet } from '../wallets/graphql.ts'
import type { PendingDeposit as PendingDepositRow } from './find-pending-deposits.ts'
import { findPendingDeposits, maxPendingDeposits } from './find-pending-deposits.ts'

const PendingDeposit = objectType<PendingDepositRow>('PendingDeposit', {
  description: 'A deposit that was seen on the chain but has too few confirmations to be credited.',
  fields: {
    network: exposeColumn('network', 'The network of the transfer.', NetworkEnum),
    txHash: exposeColumn('txHash', 'The hash of the transaction, as written on its network.'),
    logIndex: exposeColumn('logIndex', 'The index of the transfer among the logs of its transaction.', 'Int'),
    amount: exposeColumn('amount', 'The amount, in the currency of the wallet.', 'Amount'),
    confirmations: exposeColumn('confirmations', 'The current number of confirmations.', 'Int'),
    needed: computedField(
      'Int',
      ['network'],
      'The number of confirmations at which the deposit is credited.',
      ({ network }) => requiredConfirmations(network),
    ),
    detectedAt: exposeColumn('detectedAt', 'When the deposit was first reported.', 'DateTime'),
  },
})

addField(
  Wallet,
  'pendingDeposits',
  relatedListField(
    PendingDeposit,
    sourceByForeignKey(findPendingDeposits, ({ walletId }) => walletId),
    `Deposits that were seen on the chain but are not credited yet, latest first, at most ${maxPendingDeposits}. They are not part of the balance, and a chain reorganization may still remove them.`,
  ),
)
