import { enumDescription } from '../../../core/api/enum-descriptions.ts'
import { resolutions } from '../../deposits/chain-deposit.ts'
import { resolveDeposit } from '../../deposits/resolve-deposit.ts'
import { reverseDeposit } from '../../wallets/reverse-deposit.ts'
import { createDepositOwnerContext, createOwnerContext } from '../owner-context.ts'
import type { ActionDeclaration, ActionField } from './action-declaration.ts'

const referenceField: ActionField = { name: 'reference', typed: '<reference>' }

export const reverseDepositAction: ActionDeclaration = {
  name: 'deposit reverse',
  title: 'Reverse',
  summary: 'Reverse a deposit entered by mistake. Debits the full amount once. The wallet must still hold that amount.',
  fields: [referenceField, { name: 'merchant', typed: '--merchant <merchant id>' }],
  rowFields: ['reference'],
  subject: ['reference'],
  movesMoney: true,
  requiresReason: true,
  reasonHint: 'Kept in the operator log with your name, and sent to the merchant with the event deposit.reversed.',
  run: async (service, { reference = '', merchant, walletId, reason = '' }) => {
    // The form on a wallet's page has `walletId` instead of `merchant`.
    const owner = walletId === undefined ? merchant : (await createOwnerContext(service, 'wallet', walletId)).merchantId
    const context = await createDepositOwnerContext(service, { reference, merchant: owner })
    const reversed = await reverseDeposit(context, { reference, reason })
    return { walletId: reversed.walletId, reversed: reversed.amount, balance: reversed.balanceAfter }
  },
}

export const resolveDepositAction: ActionDeclaration = {
  name: 'deposit resolve',
  title: 'Decide',
  summary: 'Resolve a deposit that needs attention. The reason is stored with the deposit.',
  fields: [
    referenceField,
    {
      name: 'action',
      typed: `<${resolutions.join(' or ')}>`,
      label: 'Decision',
      options: resolutions.map((each) => [each, `${each}: ${enumDescription(resolutions, each)}`]),
    },
  ],
  rowFields: ['reference'],
  subject: ['reference'],
  movesMoney: true,
  requiresReason: true,
  run: (service, { reference = '', action, reason = '' }) =>
    resolveDeposit(service, { reference, action: action as 'credit', reason }),
}
