import { idField, idOrEmptyField } from '../../rest/input-fields.ts'
import { text } from '../../rest/json-types.ts'
import { adjacentPageMembers, listRoute } from '../../rest/list-route.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { post, put, remove } from '../../rest/route.ts'
import { constantMessage, listOf, member } from '../../rest/shape.ts'
import { networkSpellings, normalizeNetwork } from '../networks/network.ts'
import { createBankPayoutMethod, createWalletPayoutMethod } from './create-payout-method.ts'
import { deletePayoutMethod } from './delete-payout-method.ts'
import { payoutMethods } from './list.ts'
import type { PayoutMethod } from './payout-method.ts'
import { walletExamples } from './payout-method-fields.ts'
import { bankMethod, bankTexts, payoutMethod, walletMethod, walletTexts } from './payout-method-shape.ts'
import { updateBankPayoutMethod } from './update-bank-payout-method.ts'

const walletExample = walletExamples('erc20')

/** What both ways to write a bank account take. */
const bankFields = {
  type: 'Says that it is a bank account; the path says so without it.',
  accountName: bankTexts.accountName,
  accountNumber: bankTexts.accountNumber,
  bankName: bankTexts.bankName,
  currency: 'The code of the currency of the account: a supported fiat currency, such as `NGN` or `ZAR`.',
  bankCode: bankTexts.bankCode,
  customerId: idOrEmptyField('The customer whose it will be; without it, it is the merchant’s own.'),
  sortCode: bankTexts.sortCode,
  swiftCode: bankTexts.swiftCode,
  routingNumber: bankTexts.routingNumber,
  iban: bankTexts.iban,
}

/** What names one that is there. */
const idFields = {
  payoutMethodId: idField('The id of the payout method.'),
  customerId: idOrEmptyField('The customer whose it is; it must be left out for the merchant’s own.'),
}
const exampleId = '01980c5e-8b21-7f4d-a0c3-1d2e3f405162'

/** The provider's sentences, which begin with whose it is (ruling 100). */
const ownerMessage = (said: string) =>
  member(
    ({ customerId }: PayoutMethod) => `${customerId === null ? 'Merchant' : 'Customer'} ${said}`,
    text('A sentence for people.', `Merchant ${said}`),
  )

export const payoutMethodEndpoints: RouteGroup = {
  name: 'Payout methods',
  description: 'Bank accounts and crypto addresses to pay out to.',
  routes: [
    listRoute('/api/payout/methods', payoutMethods, {
      name: 'listPayoutMethods',
      title: 'List payout methods',
      description: 'Lists payout methods of both types mixed, the merchant’s and its customers’, newest first.',
      example: { type: 'BANK', limit: 2 },
      message: {
        of: ({ owner }) =>
          `${typeof owner === 'object' ? 'Customer' : 'Merchant'} payout methods retrieved successfully`,
        example: 'Merchant payout methods retrieved successfully',
      },
      rows: listOf('The payout methods of the page.', payoutMethod),
      pagination: adjacentPageMembers,
    }),
    post('/api/payout/methods/banks', createBankPayoutMethod, {
      title: 'Register a bank account',
      description:
        'Registers a bank account to pay out to, for the merchant or for one of its customers. Check digits are verified, but one that is wrong refuses nothing. The same account may be registered twice.',
      fields: bankFields,
      example: {
        type: 'BANK',
        currency: 'NGN',
        accountName: 'Ada Obi',
        accountNumber: '0690000032',
        bankName: 'Access Bank',
        bankCode: '044',
      },
      response: { message: ownerMessage('payout method added successfully!'), data: bankMethod },
    }),
    put('/api/payout/methods/banks/:payout_method_id', updateBankPayoutMethod, {
      title: 'Change a bank account',
      description:
        'Changes the fields of a bank account that are sent, and no others. An optional field that is sent as null or empty is cleared. It never changes whose it is.',
      fields: { payoutMethodId: idFields.payoutMethodId, ...bankFields, customerId: idFields.customerId },
      example: { payoutMethodId: exampleId, bankName: 'Access Bank Plc' },
      response: { message: constantMessage('Bank account updated successfully'), data: bankMethod },
    }),
    post('/api/payout/methods/wallets', createWalletPayoutMethod, {
      title: 'Register a crypto address',
      description:
        'Registers a crypto address to pay out to, for the merchant or for one of its customers. It must have the form of its network. Its checksum is verified, but one that is wrong refuses nothing. The same address may be registered twice.',
      fields: {
        type: 'Says that it is a crypto address; the path says so without it.',
        walletAddress: walletTexts.walletAddress,
        network: { enum: networkSpellings, read: normalizeNetwork, description: walletTexts.network },
        currency: 'The code of a supported stablecoin, such as `USDC`.',
        customerId: bankFields.customerId,
        label: walletTexts.label,
      },
      example: { type: 'WALLET', currency: 'USDC', ...walletExample },
      response: { message: ownerMessage('payout method added successfully!'), data: walletMethod },
    }),
    remove('/api/payout/methods/:payout_method_id', deletePayoutMethod, {
      title: 'Delete a payout method',
      description:
        'Deletes a bank account or crypto address for good. Payouts made to it keep its details. The body may be left out for the merchant’s own.',
      fields: idFields,
      example: { payoutMethodId: exampleId },
      response: { message: ownerMessage('payout method deleted successfully') },
    }),
  ],
}
