import type { z } from 'zod'
import { networkSpellings, networks, networkWritten } from '../networks/network.ts'
import { listRoute } from '../rest/list-route.ts'
import type { JsonSchema, Reference } from '../rest/reference.ts'
import { idField, listOf, mostlyNull, object, oneOf, orNull, text, timestamp, truth, uuid } from '../rest/reference.ts'
import type { WireNames } from '../rest/route.ts'
import { pagination, paginationSchema, post, put, remove } from '../rest/route.ts'
import {
  CreateBankPayoutMethodInput,
  CreateWalletPayoutMethodInput,
  createBankPayoutMethod,
  createWalletPayoutMethod,
} from './create-payout-method.ts'
import { DeletePayoutMethodInput, deletePayoutMethod } from './delete-payout-method.ts'
import { payoutMethods } from './list.ts'
import type { BankPayoutMethod, Listed, ListedPayoutMethod, PayoutMethod, WalletPayoutMethod } from './payout-method.ts'
import type { FieldText } from './payout-method-fields.ts'
import { bankFieldTexts, walletExamples, walletFieldTexts } from './payout-method-fields.ts'
import { UpdateBankPayoutMethodInput, updateBankPayoutMethod } from './update-bank-payout-method.ts'

const bankNames: WireNames<z.input<typeof CreateBankPayoutMethodInput>> = {
  type: 'type',
  accountName: 'account_name',
  accountNumber: 'account_number',
  bankName: 'bank_name',
  currency: 'currency',
  bankCode: 'bank_code',
  customerId: 'customer_id',
  sortCode: 'sort_code',
  swiftCode: 'swift_code',
  routingNumber: 'routing_number',
  iban: 'iban',
}

const updateNames: WireNames<z.input<typeof UpdateBankPayoutMethodInput>> = {
  payoutMethodId: 'payout_method_id',
  ...bankNames,
}

const walletNames: WireNames<z.input<typeof CreateWalletPayoutMethodInput>> = {
  type: 'type',
  walletAddress: 'wallet_address',
  network: 'network',
  currency: 'currency',
  customerId: 'customer_id',
  label: 'label',
}

const deleteNames: WireNames<z.input<typeof DeletePayoutMethodInput>> = {
  payoutMethodId: 'payout_method_id',
  customerId: 'customer_id',
}

const messages = {
  listed: 'Payout methods retrieved successfully',
  bankCreated: 'Bank payout method created successfully',
  bankUpdated: 'Bank payout method updated successfully',
  walletCreated: 'Wallet payout method created successfully',
  // The contract has the text differ by whose the method was.
  merchantsDeleted: 'Merchant payout method deleted successfully',
  customersDeleted: 'Customer payout method deleted successfully',
}

const bankFields = {
  type: 'Says that it is a bank account.',
  ...descriptionsOf(bankFieldTexts),
  currency: 'The code of the currency of the account: a supported fiat currency, such as `NGN` or `ZAR`.',
  customerId: idField('The customer whose it will be; without it, it is the merchant’s own.'),
}

const createBankReference: Reference<z.input<typeof CreateBankPayoutMethodInput>> = {
  name: 'createBankPayoutMethod',
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
  refusals: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
  answer: () => ({ message: messageSchema(messages.bankCreated), data: bankSchema() }),
}

const whose = idField('The customer whose it is; it must be left out for the merchant’s own.')

const updateBankReference: Reference<z.input<typeof UpdateBankPayoutMethodInput>> = {
  name: 'updateBankPayoutMethod',
  title: 'Change a bank account',
  description:
    'Changes the fields of a bank account that are sent, and no others. An optional field that is sent as null or empty is cleared. It never changes whose it is.',
  fields: { ...bankFields, payoutMethodId: idField('The id of the payout method.'), customerId: whose },
  example: { payoutMethodId: '01980c5e-8b21-7f4d-a0c3-1d2e3f405162', bankName: 'Access Bank Plc' },
  refusals: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
  answer: () => ({ message: messageSchema(messages.bankUpdated), data: bankSchema() }),
}

const createWalletReference: Reference<z.input<typeof CreateWalletPayoutMethodInput>> = {
  name: 'createWalletPayoutMethod',
  title: 'Register a crypto address',
  description:
    'Registers a crypto address to pay out to, for the merchant or for one of its customers. Its checksum is verified, but one that is wrong refuses nothing. The same address may be registered twice.',
  fields: {
    type: 'Says that it is a crypto address.',
    ...descriptionsOf(walletFieldTexts),
    network: { enum: networkSpellings, description: walletFieldTexts.network.description },
    currency: 'The code of a supported stablecoin, such as `USDC`.',
    customerId: bankFields.customerId,
  },
  example: { type: 'WALLET', currency: 'USDC', ...walletExamples('erc20') },
  refusals: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
  answer: () => ({ message: messageSchema(messages.walletCreated), data: walletSchema() }),
}

const deleteReference: Reference<z.input<typeof DeletePayoutMethodInput>> = {
  name: 'deletePayoutMethod',
  title: 'Delete a payout method',
  description:
    'Deletes a bank account or crypto address for good. Payouts made to it keep its details. The body may be left out for the merchant’s own.',
  fields: { payoutMethodId: idField('The id of the payout method.'), customerId: whose },
  example: { payoutMethodId: '01980c5e-8b21-7f4d-a0c3-1d2e3f405162' },
  refusals: ['RESOURCE_NOT_FOUND'],
  answer: () => ({ message: messageSchema(messages.merchantsDeleted) }),
}

export const payoutMethodRoutes = [
  listRoute('/api/payout/methods', payoutMethods, {
    name: 'listPayoutMethods',
    title: 'List payout methods',
    description: 'Lists payout methods of both types mixed, the merchant’s and its customers’, newest first.',
    example: { type: 'BANK', limit: 2 },
    answer: (page) => {
      const numbers = pagination(page)
      return {
        message: messages.listed,
        data: page.items.map(payoutMethodJson),
        pagination: { ...numbers, hasNextPage: page.page < numbers.totalPages, hasPreviousPage: page.page > 1 },
      }
    },
    schemas: () => ({
      message: messageSchema(messages.listed),
      data: listOf('The payout methods of the page.', payoutMethodSchema()),
      pagination: paginationSchema({
        hasNextPage: truth('Whether a page follows.', false),
        hasPreviousPage: truth('Whether a page comes before.', false),
      }),
    }),
  }),
  post(
    '/api/payout/methods/banks',
    CreateBankPayoutMethodInput,
    bankNames,
    createBankReference,
    async (context, input) => {
      const { result, isReplayed } = await context.perform(createBankPayoutMethod, context, input)
      return { isReplayed, message: messages.bankCreated, data: payoutMethodJson(result) }
    },
  ),
  put(
    '/api/payout/methods/banks/:payout_method_id',
    UpdateBankPayoutMethodInput,
    updateNames,
    updateBankReference,
    async (context, input) => {
      const { result, isReplayed } = await context.perform(updateBankPayoutMethod, context, input)
      return { isReplayed, message: messages.bankUpdated, data: payoutMethodJson(result) }
    },
  ),
  post(
    '/api/payout/methods/wallets',
    CreateWalletPayoutMethodInput,
    walletNames,
    createWalletReference,
    async (context, input) => {
      const asked = { ...input, network: networkWritten(input.network) }
      const { result, isReplayed } = await context.perform(createWalletPayoutMethod, context, asked)
      return { isReplayed, message: messages.walletCreated, data: payoutMethodJson(result) }
    },
  ),
  remove(
    '/api/payout/methods/:payout_method_id',
    DeletePayoutMethodInput,
    deleteNames,
    deleteReference,
    async (context, input) => {
      const {
        result: { customerId },
        isReplayed,
      } = await context.perform(deletePayoutMethod, context, input)
      return { isReplayed, message: customerId === null ? messages.merchantsDeleted : messages.customersDeleted }
    },
  ),
]

/** The wire shape of contract 2.2, by type. */
function payoutMethodJson(method: ListedPayoutMethod) {
  return method.type === 'BANK' ? bankJson(method) : walletJson(method)
}

function commonJson(method: ListedPayoutMethod) {
  return {
    id: method.id,
    type: method.type,
    currency: method.currency,
    created_at: method.createdAt,
    updated_at: method.updatedAt,
    customer_id: method.customerId,
  }
}

function bankJson(method: Listed<BankPayoutMethod>) {
  return {
    ...commonJson(method),
    account_name: method.accountName,
    account_number: method.accountNumber,
    bank_name: method.bankName,
    bank_code: method.bankCode,
    sort_code: method.sortCode,
    swift_code: method.swiftCode,
    routing_number: method.routingNumber,
    iban: method.iban,
  }
}

function walletJson(method: Listed<WalletPayoutMethod>) {
  return {
    ...commonJson(method),
    label: method.label,
    wallet_address: method.walletAddress,
    network: method.network,
  }
}

function payoutMethodSchema(): JsonSchema {
  return {
    title: 'PayoutMethod',
    description: 'Where money can be paid out to.',
    oneOf: [bankSchema(), walletSchema()],
  }
}

function bankSchema(): JsonSchema {
  const said = descriptionsOf(bankFieldTexts)
  return object<ReturnType<typeof bankJson>>(
    'A bank account to pay out to.',
    {
      ...commonMembers('BANK', 'NGN'),
      account_name: text(said.accountName, 'Ada Obi'),
      account_number: text(said.accountNumber, '0690000032'),
      bank_name: text(said.bankName, 'Access Bank'),
      bank_code: text(said.bankCode, '044'),
      sort_code: mostlyNull(text(said.sortCode, '20-20-15')),
      swift_code: mostlyNull(text(said.swiftCode, 'ABNGNGLA')),
      routing_number: mostlyNull(text(said.routingNumber, '021000021')),
      iban: mostlyNull(text(said.iban, 'GB82 WEST 1234 5698 7654 32')),
    },
    { title: 'BankPayoutMethod' },
  )
}

function walletSchema(): JsonSchema {
  const said = descriptionsOf(walletFieldTexts)
  const { walletAddress, label } = walletExamples('erc20')
  return object<ReturnType<typeof walletJson>>(
    'A crypto address to pay out to.',
    {
      ...commonMembers('WALLET', 'USDC'),
      label: orNull(text(said.label, label)),
      wallet_address: text(said.walletAddress, walletAddress),
      network: oneOf(said.network, networks),
    },
    { title: 'WalletPayoutMethod' },
  )
}

function commonMembers(type: PayoutMethod['type'], currency: string) {
  return {
    id: uuid('The id of the payout method.', '01980c5e-8b21-7f4d-a0c3-1d2e3f405162'),
    type: oneOf('What it is.', [type]),
    currency: text('The code of its currency or stablecoin.', currency),
    created_at: timestamp('When it was registered.'),
    updated_at: timestamp('When it last changed.'),
    customer_id: mostlyNull(uuid('The customer whose it is; null when it is the merchant’s own.')),
  } as const
}

function messageSchema(message: string): JsonSchema {
  return text('A sentence for people.', message)
}

function descriptionsOf<Field extends string>(texts: Readonly<Record<Field, FieldText>>): Record<Field, string> {
  return Object.fromEntries(
    Object.entries<FieldText>(texts).map(([field, { description }]) => [field, description]),
  ) as Record<Field, string>
}
