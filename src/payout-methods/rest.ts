import { networkSpellings, networks, networkWritten } from '../networks/network.ts'
import { oneOf, text, timestamp, uuid } from '../rest/forms.ts'
import { listRoute, neighbours } from '../rest/list-route.ts'
import { idField } from '../rest/reference.ts'
import type { Group } from '../rest/route.ts'
import { post, put, remove } from '../rest/route.ts'
import type { Members } from '../rest/shape.ts'
import { byType, from, listOf, message, mostlyNull, orNull, resource } from '../rest/shape.ts'
import {
  CreateBankPayoutMethodInput,
  CreateWalletPayoutMethodInput,
  createBankPayoutMethod,
  createWalletPayoutMethod,
} from './create-payout-method.ts'
import { DeletePayoutMethodInput, deletePayoutMethod } from './delete-payout-method.ts'
import { payoutMethods } from './list.ts'
import type { BankPayoutMethod, Listed, ListedPayoutMethod, PayoutMethod, WalletPayoutMethod } from './payout-method.ts'
import { bankFieldTexts, walletExamples, walletFieldTexts } from './payout-method-fields.ts'
import { UpdateBankPayoutMethodInput, updateBankPayoutMethod } from './update-bank-payout-method.ts'

/** The wire shape of contract 2.2, by type: first what both types have. */
const common = (type: PayoutMethod['type'], currency: string): Members<ListedPayoutMethod> => ({
  id: from((method) => method.id, uuid('The id of the payout method.', '01980c5e-8b21-7f4d-a0c3-1d2e3f405162')),
  type: from((method) => method.type, oneOf('What it is.', [type])),
  currency: from((method) => method.currency, text('The code of its currency or stablecoin.', currency)),
  created_at: from((method) => method.createdAt, timestamp('When it was registered.')),
  updated_at: from((method) => method.updatedAt, timestamp('When it last changed.')),
  customer_id: mostlyNull(
    (method) => method.customerId,
    uuid('The customer whose it is; null when it is the merchant’s own.'),
  ),
})

const bankTexts = descriptionsOf(bankFieldTexts)
const walletTexts = descriptionsOf(walletFieldTexts)
const walletExample = walletExamples('erc20')

const bankMethod = resource<Listed<BankPayoutMethod>>('BankPayoutMethod', 'A bank account to pay out to.', {
  ...common('BANK', 'NGN'),
  account_name: from((method) => method.accountName, text(bankTexts.accountName, 'Ada Obi')),
  account_number: from((method) => method.accountNumber, text(bankTexts.accountNumber, '0690000032')),
  bank_name: from((method) => method.bankName, text(bankTexts.bankName, 'Access Bank')),
  bank_code: from((method) => method.bankCode, text(bankTexts.bankCode, '044')),
  sort_code: mostlyNull((method) => method.sortCode, text(bankTexts.sortCode, '20-20-15')),
  swift_code: mostlyNull((method) => method.swiftCode, text(bankTexts.swiftCode, 'ABNGNGLA')),
  routing_number: mostlyNull((method) => method.routingNumber, text(bankTexts.routingNumber, '021000021')),
  iban: mostlyNull((method) => method.iban, text(bankTexts.iban, 'GB82 WEST 1234 5698 7654 32')),
})

const walletMethod = resource<Listed<WalletPayoutMethod>>('WalletPayoutMethod', 'A crypto address to pay out to.', {
  ...common('WALLET', 'USDC'),
  label: orNull((method) => method.label, text(walletTexts.label, walletExample.label)),
  wallet_address: from((method) => method.walletAddress, text(walletTexts.walletAddress, walletExample.walletAddress)),
  network: from((method) => method.network, oneOf(walletTexts.network, networks)),
})

const payoutMethod = byType<ListedPayoutMethod>('PayoutMethod', 'Where money can be paid out to.', {
  BANK: bankMethod,
  WALLET: walletMethod,
})

/** What both ways to write a bank account take. */
const bankFields = {
  type: 'Says that it is a bank account.',
  accountName: bankTexts.accountName,
  accountNumber: bankTexts.accountNumber,
  bankName: bankTexts.bankName,
  currency: 'The code of the currency of the account: a supported fiat currency, such as `NGN` or `ZAR`.',
  bankCode: bankTexts.bankCode,
  customerId: idField('The customer whose it will be; without it, it is the merchant’s own.'),
  sortCode: bankTexts.sortCode,
  swiftCode: bankTexts.swiftCode,
  routingNumber: bankTexts.routingNumber,
  iban: bankTexts.iban,
}

/** What names one that is there. */
const named = {
  payoutMethodId: idField('The id of the payout method.'),
  customerId: idField('The customer whose it is; it must be left out for the merchant’s own.'),
}
const exampleId = '01980c5e-8b21-7f4d-a0c3-1d2e3f405162'

export const payoutMethodEndpoints: Group = {
  name: 'Payout methods',
  description: 'Bank accounts and crypto addresses to pay out to.',
  routes: [
    listRoute('/api/payout/methods', payoutMethods, {
      name: 'listPayoutMethods',
      title: 'List payout methods',
      description: 'Lists payout methods of both types mixed, the merchant’s and its customers’, newest first.',
      example: { type: 'BANK', limit: 2 },
      message: message('Payout methods retrieved successfully'),
      rows: listOf('The payout methods of the page.', payoutMethod),
      pagination: neighbours,
    }),
    post('/api/payout/methods/banks', {
      name: 'createBankPayoutMethod',
      title: 'Register a bank account',
      description:
        'Registers a bank account to pay out to, for the merchant or for one of its customers. Check digits are verified, but one that is wrong refuses nothing. The same account may be registered twice.',
      input: CreateBankPayoutMethodInput,
      operation: createBankPayoutMethod,
      fields: bankFields,
      example: {
        type: 'BANK',
        currency: 'NGN',
        accountName: 'Ada Obi',
        accountNumber: '0690000032',
        bankName: 'Access Bank',
        bankCode: '044',
      },
      refusals: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
      answer: { message: message('Bank payout method created successfully'), data: bankMethod },
    }),
    put('/api/payout/methods/banks/:payout_method_id', {
      name: 'updateBankPayoutMethod',
      title: 'Change a bank account',
      description:
        'Changes the fields of a bank account that are sent, and no others. An optional field that is sent as null or empty is cleared. It never changes whose it is.',
      input: UpdateBankPayoutMethodInput,
      operation: updateBankPayoutMethod,
      fields: { payoutMethodId: named.payoutMethodId, ...bankFields, customerId: named.customerId },
      example: { payoutMethodId: exampleId, bankName: 'Access Bank Plc' },
      refusals: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
      answer: { message: message('Bank payout method updated successfully'), data: bankMethod },
    }),
    post('/api/payout/methods/wallets', {
      name: 'createWalletPayoutMethod',
      title: 'Register a crypto address',
      description:
        'Registers a crypto address to pay out to, for the merchant or for one of its customers. Its checksum is verified, but one that is wrong refuses nothing. The same address may be registered twice.',
      input: CreateWalletPayoutMethodInput,
      operation: createWalletPayoutMethod,
      fields: {
        type: 'Says that it is a crypto address.',
        walletAddress: walletTexts.walletAddress,
        network: { enum: networkSpellings, read: networkWritten, description: walletTexts.network },
        currency: 'The code of a supported stablecoin, such as `USDC`.',
        customerId: bankFields.customerId,
        label: walletTexts.label,
      },
      example: { type: 'WALLET', currency: 'USDC', ...walletExample },
      refusals: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
      answer: { message: message('Wallet payout method created successfully'), data: walletMethod },
    }),
    remove('/api/payout/methods/:payout_method_id', {
      name: 'deletePayoutMethod',
      title: 'Delete a payout method',
      description:
        'Deletes a bank account or crypto address for good. Payouts made to it keep its details. The body may be left out for the merchant’s own.',
      input: DeletePayoutMethodInput,
      operation: deletePayoutMethod,
      fields: named,
      example: { payoutMethodId: exampleId },
      refusals: ['RESOURCE_NOT_FOUND'],
      // The contract has the text differ by whose the method was.
      answer: {
        message: from(
          ({ customerId }: PayoutMethod) =>
            `${customerId === null ? 'Merchant' : 'Customer'} payout method deleted successfully`,
          text('A sentence for people.', 'Merchant payout method deleted successfully'),
        ),
      },
    }),
  ],
}

function descriptionsOf<Field extends string>(
  texts: Readonly<Record<Field, { readonly description: string }>>,
): Record<Field, string> {
  const said = Object.entries<{ description: string }>(texts).map(([field, { description }]) => [field, description])
  return Object.fromEntries(said)
}
