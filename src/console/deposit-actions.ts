import { createMerchantContext } from '../modules/merchants/sandbox-clock.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { reverseDeposit } from '../modules/wallets/reverse-deposit.ts'
import type { ConsoleAction } from './console-page.ts'

export const reverseDepositAction: ConsoleAction = {
  name: 'deposit reverse',
  title: 'Reverse',
  text: 'Takes a deposit that was entered by mistake back out of the wallet, whole and once. The wallet must still hold as much.',
  reasonHint: 'Kept in the operator log with your name, and sent to the merchant with the event deposit.reversed.',
  subject: ({ target }) => target,
  run: async (service, { params, target, reason }) => {
    const { merchantId } = await createOwnerContext(service, 'wallet', params.walletId ?? '')
    await reverseDeposit(await createMerchantContext(service, merchantId), { reference: target, reason })
    return undefined
  },
}
