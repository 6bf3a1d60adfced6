import { changeWalletStatus } from '../../wallets/change-wallet-status.ts'
import type { WalletStatus } from '../../wallets/wallet.ts'
import { createOwnerContext } from '../owner-context.ts'
import type { ActionDeclaration } from './action-declaration.ts'

export const suspendWalletAction = walletStatusAction('suspended', {
  name: 'wallet suspend',
  title: 'Suspend',
  summary:
    'Stop new payouts from a wallet. Payouts that were already created continue. Deposits and returned payouts are still credited. Repeating it changes nothing.',
})

export const activateWalletAction = walletStatusAction('active', {
  name: 'wallet activate',
  title: 'Activate',
  summary: 'Allow payouts from a suspended wallet again. Repeating it changes nothing.',
})

function walletStatusAction(
  status: WalletStatus,
  texts: Pick<ActionDeclaration, 'name' | 'title' | 'summary'>,
): ActionDeclaration {
  return {
    ...texts,
    fields: [{ name: 'walletId', typed: '<wallet id>' }],
    subject: ['walletId'],
    requiresReason: true,
    run: async (service, { walletId = '' }) => {
      const context = await createOwnerContext(service, 'wallet', walletId)
      const wallet = await changeWalletStatus(context, { walletId, status })
      return { id: wallet.id, status: wallet.status, updatedAt: wallet.updatedAt }
    },
  }
}
