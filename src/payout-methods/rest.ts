import { z } from 'zod'
import type { OwnerFilter } from '../customers/owner.ts'
import { parseUuid } from '../ids.ts'
import { parse, refuse } from '../input.ts'
import type { WireNames } from '../rest/route.ts'
import { get, pagination, post, put, remove } from '../rest/route.ts'
import {
  CreateBankPayoutMethodInput,
  CreateWalletPayoutMethodInput,
  createBankPayoutMethod,
  createWalletPayoutMethod,
} from './create-payout-method.ts'
import { DeletePayoutMethodInput, deletePayoutMethod } from './delete-payout-method.ts'
import { ListPayoutMethodsInput, listPayoutMethods } from './list-payout-methods.ts'
import type { BankPayoutMethod, PayoutMethod, WalletPayoutMethod } from './payout-method.ts'
import { UpdateBankPayoutMethodInput, updateBankPayoutMethod } from './update-bank-payout-method.ts'

// The query spells an owner as text: absent or empty for all, `null` for the merchant's own, else a customer (ruling 18).
const ListQuery = ListPayoutMethodsInput.extend({
  owner: z
    .unknown()
    .optional()
    .transform((value, context): OwnerFilter => {
      if (value === undefined || value === '') return 'any'
      if (value === null || value === 'null') return 'merchant'
      const customerId = parseUuid(value)
      return customerId ? { customerId } : refuse(context, 'INVALID_FORMAT', 'must be a UUID, or null for the merchant')
    }),
})

const listNames: WireNames<z.input<typeof ListQuery>> = {
  owner: 'customer_id',
  type: 'type',
  currency: 'currency',
  page: 'page',
  limit: 'limit',
}

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

export const payoutMethodRoutes = [
  get('/api/payout/methods', ListQuery, listNames, async (context, input) => {
    const page = await listPayoutMethods(context, parse(ListQuery, input))
    const numbers = pagination(page)
    return {
      message: 'Payout methods retrieved successfully',
      data: page.items.map(payoutMethodJson),
      pagination: { ...numbers, hasNextPage: page.page < numbers.totalPages, hasPreviousPage: page.page > 1 },
    }
  }),
  post('/api/payout/methods/banks', CreateBankPayoutMethodInput, bankNames, async (context, input) => ({
    message: 'Bank payout method created successfully',
    data: payoutMethodJson(await createBankPayoutMethod(context, input)),
  })),
  put(
    '/api/payout/methods/banks/:payout_method_id',
    UpdateBankPayoutMethodInput,
    updateNames,
    async (context, input) => ({
      message: 'Bank payout method updated successfully',
      data: payoutMethodJson(await updateBankPayoutMethod(context, input)),
    }),
  ),
  post('/api/payout/methods/wallets', CreateWalletPayoutMethodInput, walletNames, async (context, input) => ({
    message: 'Wallet payout method created successfully',
    data: payoutMethodJson(await createWalletPayoutMethod(context, input)),
  })),
  remove('/api/payout/methods/:payout_method_id', DeletePayoutMethodInput, deleteNames, async (context, input) => {
    const { customerId } = await deletePayoutMethod(context, input)
    // The contract has the text differ by whose the method was.
    return { message: `${customerId === null ? 'Merchant' : 'Customer'} payout method deleted successfully` }
  }),
]

/** The wire shape of contract 2.2, by type. */
function payoutMethodJson(method: PayoutMethod) {
  return {
    id: method.id,
    type: method.type,
    currency: method.currency,
    created_at: method.createdAt,
    updated_at: method.updatedAt,
    customer_id: method.customerId,
    ...(method.type === 'BANK' ? bankJson(method) : walletJson(method)),
  }
}

function bankJson(method: BankPayoutMethod) {
  return {
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

function walletJson(method: WalletPayoutMethod) {
  return { label: method.label, wallet_address: method.walletAddress, network: method.network }
}
