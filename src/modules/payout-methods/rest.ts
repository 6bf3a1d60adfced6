import { idField, idOrEmptyField, notInContract } from '../../rest/input-fields.ts'
import { boolean, text } from '../../rest/json-types.ts'
import { adjacentPageMembers, listRoute } from '../../rest/list-route.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { get, post, put, remove } from '../../rest/route.ts'
import { constantMessage, listOf, member, shape } from '../../rest/shape.ts'
import { networkSpellings, normalizeNetwork } from '../networks/network.ts'
import { createBankPayoutMethod, createWalletPayoutMethod } from './create-payout-method.ts'
import { deletePayoutMethod } from './delete-payout-method.ts'
import { payoutMethods } from './list.ts'
import type { PayoutMethod } from './payout-method.ts'
import { bankDescriptions, walletDescriptions, walletExamples } from './payout-method-fields.ts'
import { bankMethod, payoutMethod, walletMethod } from './payout-method-shape.ts'
import { updateBankPayoutMethod } from './update-bank-payout-method.ts'
import { updateWalletPayoutMethod } from './update-wallet-payout-method.ts'
import type { ValidAddress } from './validate-address.ts'
import { ValidateAddressInput, validateAddress } from './validate-address.ts'

const walletExample = walletExamples('erc20')

const bankFields = {
  type: 'Optional, because the path implies it.',
  accountName: bankDescriptions.accountName,
  accountNumber: bankDescriptions.accountNumber,
  bankName: bankDescriptions.bankName,
  currency: 'The code of a supported fiat currency, such as `NGN` or `ZAR`.',
  bankCode: bankDescriptions.bankCode,
  customerId: idOrEmptyField('The customer that will own it; absent for the merchant itself.'),
  sortCode: bankDescriptions.sortCode,
  swiftCode: bankDescriptions.swiftCode,
  routingNumber: bankDescriptions.routingNumber,
  iban: bankDescriptions.iban,
}

const walletFields = {
  type: bankFields.type,
  walletAddress: walletDescriptions.walletAddress,
  network: { enum: networkSpellings, read: normalizeNetwork, description: walletDescriptions.network },
  currency: 'The code of a supported stablecoin, such as `USDC`.',
  customerId: bankFields.customerId,
  label: walletDescriptions.label,
}

const idFields = {
  payoutMethodId: idField('The id of the payout method.'),
  customerId: idOrEmptyField('The customer that owns it; must be absent for the merchant’s own.'),
}
const exampleId = '01980c5e-8b21-7f4d-a0c3-1d2e3f405162'

/** The original provider's messages begin with `Merchant` or `Customer` (ruling 100). */
const ownerMessage = (predicate: string) =>
  member(
    ({ customerId }: PayoutMethod) => `${customerId === null ? 'Merchant' : 'Customer'} ${predicate}`,
    text('A message for people.', `Merchant ${predicate}`),
  )

export const payoutMethodEndpoints: RouteGroup = {
  name: 'Payout methods',
  description: 'Registered destinations of payouts.',
  routes: [
    listRoute('/api/payout/methods', payoutMethods, {
      name: 'listPayoutMethods',
      title: 'List payout methods',
      description: 'Lists the payout methods of the merchant and its customers, of every type, newest first.',
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
        'Registers a bank account to pay out to, for the merchant or for one of its customers. A wrong check digit is reported but does not reject the request. The same account may be registered twice.',
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
        'Changes the sent fields of a bank account. An optional field that is sent as null or empty is cleared. The owner never changes.',
      fields: { payoutMethodId: idFields.payoutMethodId, ...bankFields, customerId: idFields.customerId },
      example: { payoutMethodId: exampleId, bankName: 'Access Bank Plc' },
      response: { message: constantMessage('Bank account updated successfully'), data: bankMethod },
    }),
    post('/api/payout/methods/wallets', createWalletPayoutMethod, {
      title: 'Register a crypto address',
      description:
        'Registers a crypto address to pay out to, for the merchant or for one of its customers. The address must have the form of its network. A wrong checksum is reported but does not reject the request. The same address may be registered twice.',
      fields: walletFields,
      example: { type: 'WALLET', currency: 'USDC', ...walletExample },
      response: { message: ownerMessage('payout method added successfully!'), data: walletMethod },
    }),
    put('/api/payout/methods/wallets/:payout_method_id', updateWalletPayoutMethod, {
      title: 'Change a crypto address',
      description: `Changes the sent fields of a crypto address. A label that is sent as null or empty is cleared. The owner never changes. ${notInContract}`,
      fields: { payoutMethodId: idFields.payoutMethodId, ...walletFields, customerId: idFields.customerId },
      example: { payoutMethodId: exampleId, label: 'Cold store' },
      response: { message: constantMessage('Wallet updated successfully'), data: walletMethod },
    }),
    get('/api/payouts/validate-address', {
      name: 'validateAddress',
      title: 'Validate a crypto address',
      description: `Returns whether an address has the form of one of the networks of a stablecoin. Any other address is an error. Checksums are not verified. ${notInContract}`,
      input: ValidateAddressInput,
      operation: validateAddress,
      fields: {
        currency: 'The code of a supported stablecoin, in any case.',
        address: 'The address.',
      },
      example: { currency: 'usdc', address: walletExample.walletAddress },
      errors: [],
      response: {
        message: constantMessage('Address validation successful.'),
        data: shape('The result.', {
          valid: member(
            ({ valid }: ValidAddress) => valid,
            boolean('Whether the address is valid: always true.', true),
          ),
        }),
      },
    }),
    remove('/api/payout/methods/:payout_method_id', deletePayoutMethod, {
      title: 'Delete a payout method',
      description:
        'Permanently deletes a payout method of any type. Payouts keep its details. The body is optional for the merchant’s own.',
      fields: idFields,
      example: { payoutMethodId: exampleId },
      response: { message: ownerMessage('payout method deleted successfully') },
    }),
  ],
}
