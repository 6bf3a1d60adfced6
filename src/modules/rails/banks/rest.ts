import type { Bank, ResolvedBankAccount } from '../../../operations/bank-directory.ts'
import { notInContract } from '../../../rest/input-fields.ts'
import { text } from '../../../rest/json-types.ts'
import type { RouteGroup } from '../../../rest/route.ts'
import { get, postRead } from '../../../rest/route.ts'
import { constantMessage, listOf, member, resource } from '../../../rest/shape.ts'
import { payoutDescriptions, recipientCurrencies } from '../../payouts/payout.ts'
import { ListBanksInput, listBanks, ResolveBankAccountInput, resolveBankAccount } from './look-up-banks.ts'

const bank = resource<Bank>('Bank', 'A bank that payouts can go to.', {
  bank_code: member(({ bankCode }) => bankCode, text(payoutDescriptions.bankCode, '044')),
  bank_name: member(({ bankName }) => bankName, text(payoutDescriptions.bankName, 'Access Bank')),
})

const resolvedAccount = resource<ResolvedBankAccount>('ResolvedBankAccount', 'A bank account and its holder.', {
  destination_institution_code: member(({ bankCode }) => bankCode, text(payoutDescriptions.bankCode, '044')),
  account_number: member(({ accountNumber }) => accountNumber, text(payoutDescriptions.accountNumber, '0690000032')),
  account_name: member(({ accountName }) => accountName, text('The name of the holder.', 'ADA OBI')),
})

const resolution = {
  description: `Asks a rail for the name of an account, so that a payout goes to the right one. No rail can: 422. ${notInContract}`,
  input: ResolveBankAccountInput,
  operation: resolveBankAccount,
  fields: {
    accountNumber: payoutDescriptions.accountNumber,
    bankCode: payoutDescriptions.bankCode,
  },
  example: { accountNumber: '0690000032', bankCode: '044' },
  errors: ['RESOURCE_NOT_FOUND', 'BANK_LOOKUP_UNAVAILABLE'],
  response: { message: constantMessage('Bank account resolved successfully'), data: resolvedAccount },
} as const

export const bankEndpoints: RouteGroup = {
  name: 'Banks',
  description: 'Banks and the names of their accounts, as a rail reports them.',
  routes: [
    get('/api/banks', {
      name: 'listBanks',
      title: 'List banks',
      description: `Returns the banks that payouts in a currency can go to, sorted by name. No rail can: 422. ${notInContract}`,
      input: ListBanksInput,
      operation: listBanks,
      fields: { currency: { enum: recipientCurrencies, description: payoutDescriptions.recipientCurrency } },
      example: { currency: 'NGN' },
      errors: ['BANK_LOOKUP_UNAVAILABLE'],
      response: {
        message: constantMessage('Bank list retrieved successfully'),
        data: member((banks: readonly Bank[]) => banks, listOf('The banks.', bank)),
      },
    }),
    get('/api/banks/resolve', { name: 'getBankAccountName', title: 'Get the name of a bank account', ...resolution }),
    postRead('/api/banks/resolve', {
      name: 'resolveBankAccount',
      title: 'Resolve a bank account',
      ...resolution,
    }),
  ],
}
