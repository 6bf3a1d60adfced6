import { z } from 'zod'
import { oneOf, parseInput } from '../../core/input.ts'
import { lockSequence } from '../../lists/sequence.ts'
import type { Context } from '../../operations/context.ts'
import { newUpdatedAt } from '../../operations/context.ts'
import { wallets } from './list.ts'
import { setWalletStatus } from './repository.ts'
import type { WalletRow } from './wallet.ts'
import { walletStatuses } from './wallet.ts'

const WalletStatusInput = z.object({ walletId: z.string(), status: oneOf(walletStatuses) })

/**
 * No payout leaves a suspended wallet (ruling 150). A wallet that already has the status is returned unchanged.
 *
 * @throws DomainError, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND
 */
export async function changeWalletStatus(
  context: Context,
  input: z.input<typeof WalletStatusInput>,
): Promise<WalletRow> {
  const { walletId, status } = parseInput(WalletStatusInput, input)
  const { merchantId } = context
  return context.db.write(
    async (tx) => {
      // A payout takes this lock before it debits a wallet. On PostgreSQL, a payout that starts before the status
      // changes would otherwise debit the wallet after this transaction commits.
      lockSequence(tx, merchantId, 'payouts')
      const wallet = await wallets.get({ db: tx, merchantId }, walletId)
      if (wallet.status === status) return wallet
      const changed = { ...wallet, status, updatedAt: newUpdatedAt(context, wallet) }
      await setWalletStatus(tx, changed)
      return changed
    },
    { merchantId },
  )
}
