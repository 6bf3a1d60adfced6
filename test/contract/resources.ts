import { z } from 'zod'

// Section 2 of the contract, key by key: an object with one key more or less, or of another type, does not pass.

const id = z.uuid()
const time = z.iso.datetime({ precision: 3 })
const nullableText = z.string().nullable()
const eightPlaces = z.string().regex(/^\d+\.\d{8}$/)

const customer = {
  id,
  email: z.string(),
  phone: z.string().regex(/^\+\d+$/),
  created_at: time,
  updated_at: time,
  status: z.enum(['active', 'closed']),
  address: z.strictObject({
    line_1: z.string(),
    line_2: nullableText,
    city: z.string(),
    state: z.string(),
    postal_code: nullableText,
    country: z.string(),
  }),
  personal_info: z.strictObject({
    first_name: nullableText,
    middle_name: nullableText,
    last_name: nullableText,
    birth_date: time.nullable(),
  }),
  financial_info: z.strictObject({
    account_purpose: nullableText,
    employment_status: nullableText,
    expected_monthly_income: z
      .string()
      .regex(/^\d+\.\d\d$/)
      .nullable(),
    most_recent_occupation: nullableText,
    source_of_funds: nullableText,
  }),
}

/** Contract 2.1: only a business has `business_info`. */
export const Customer = z.union([
  z.strictObject({ ...customer, customer_type: z.literal('individual') }),
  z.strictObject({
    ...customer,
    customer_type: z.literal('business'),
    business_info: z.strictObject({
      business_name: nullableText,
      business_type: nullableText,
      business_website: nullableText,
    }),
  }),
])

const payoutMethod = { id, currency: z.string(), created_at: time, updated_at: time, customer_id: id.nullable() }

/** Contract 2.2. */
export const BankPayoutMethod = z.strictObject({
  ...payoutMethod,
  type: z.literal('BANK'),
  account_name: z.string(),
  account_number: z.string(),
  bank_name: z.string(),
  bank_code: z.string(),
  sort_code: nullableText,
  swift_code: nullableText,
  routing_number: nullableText,
  iban: nullableText,
})

/** Contract 2.2; an absent label is null. */
export const WalletPayoutMethod = z.strictObject({
  ...payoutMethod,
  type: z.literal('WALLET'),
  label: nullableText,
  wallet_address: z.string(),
  network: z.string(),
})

export const PayoutMethod = z.union([BankPayoutMethod, WalletPayoutMethod])

const wallet = {
  id,
  asset_type: z.enum(['STABLECOIN', 'FIAT']),
  currency: z.string(),
  balance: eightPlaces,
  description: z.string(),
  status: z.literal('active'),
  created_at: time,
  updated_at: time,
  customer_id: id.nullable(),
}
const address = { address: z.string(), network: z.string(), created_at: time }

/** Contract 2.3 with the addresses of a creation (ruling 31). */
export const CreatedWallet = z.strictObject({
  ...wallet,
  addresses: z.array(z.strictObject({ ...address, id, crypto_wallet_id: id })),
})

/** Contract 2.3 with the addresses of a fetch by id (ruling 31). */
export const Wallet = z.strictObject({ ...wallet, addresses: z.array(z.strictObject({ ...address, id })) })

/** Contract 2.3 with the one address of a list (ruling 31). */
export const ListedWallet = z.strictObject({ ...wallet, addresses: z.strictObject(address).nullable() })

/** Contract 2.4. */
export const AssetCode = z.strictObject({
  id,
  asset_type: z.enum(['FIAT', 'STABLECOIN']),
  code: z.string(),
  created_at: time,
  updated_at: time,
  networks: z.array(z.strictObject({ id, network: z.string().regex(/^[A-Z][a-z0-9]+$/), created_at: time })).nullable(),
})

/** Contract 2.5. */
export const Payout = z.strictObject({
  id,
  sender_wallet_id: nullableText,
  receiver_wallet_id: nullableText,
  transaction_id: z.string().regex(/^[A-Z0-9]{10}$/),
  asset_code: z.string(),
  amount: eightPlaces,
  reference_id: id,
  status: z.literal('PROCESSING'),
  created_at: time,
  updated_at: time,
  crypto_transaction_id: nullableText,
  network: nullableText,
  transaction_type: z.literal('PAYOUT'),
  transaction_mode: z.literal('DEBIT'),
  exchange_rate: nullableText,
  withdrawal_recipient_name: z.string(),
  fee: nullableText,
  balance: eightPlaces,
  reason: z.string(),
  customer_id: id.nullable(),
  recipient_currency: z.string(),
  recipient_country: z.string(),
  bank_name: z.string(),
  bank_code: z.string(),
  address: nullableText,
  bank_account: z.string(),
  amount_fiat: eightPlaces,
  fiat_reference_id: nullableText,
  narration: nullableText,
  transfer_type: z.string(),
  provider_transfer_type: z.literal('LOCAL'),
})

const pagination = { total: z.int(), page: z.int(), limit: z.int(), totalPages: z.int() }

/** The pagination of customers and of a customer's wallets (contract 4.1 and 4.10). */
export const Pagination = z.strictObject(pagination)

/** The pagination of payout methods (contract 4.3). */
export const PayoutMethodPagination = z.strictObject({
  ...pagination,
  hasNextPage: z.boolean(),
  hasPreviousPage: z.boolean(),
})
