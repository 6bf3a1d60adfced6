import { z } from 'zod'
import { findFieldErrors, oneOf, uuid } from '../../core/input.ts'
import type { Amount } from '../../core/money/amount.ts'
import { parseAmount } from '../../core/money/amount.ts'
import type { NewRowOf } from '../../database/tables.ts'
import { assetTypes } from '../asset-codes/asset-code.ts'
import { customerStatuses, customerTypes } from '../customers/customer.ts'
import type { Network } from '../networks/network.ts'
import { networks, normalizeNetwork } from '../networks/network.ts'

export type SourceCustomer = Omit<NewRowOf<'customers'>, 'merchantId' | 'sequence'>

export type SourcePayoutMethod = Omit<NewRowOf<'payoutMethods'>, 'merchantId' | 'sequence' | 'ownerSequence' | 'checks'>

export type SourceAddress = { id: string; address: string; network: Network; createdAt: string }

/** `addresses` is `null` if the provider's response has no ids for the addresses, for example in a list of wallets. */
export type SourceWallet = Omit<NewRowOf<'wallets'>, 'merchantId' | 'sequence' | 'ownerSequence'> & {
  readonly balance: Amount
  readonly addresses: readonly SourceAddress[] | null
}

export type SourceObject<Row> = { readonly row: Row } | { readonly id: string | null; readonly problem: string }

const maxTextLength = 1_000

/**
 * Text is not trimmed. SQLite and PostgreSQL reject the character NUL, and PostgreSQL also rejects an unpaired
 * surrogate.
 */
const text = () =>
  z
    .string()
    .max(maxTextLength, `must have at most ${maxTextLength} characters`)
    .refine((value) => !value.includes('\0') && value.isWellFormed(), 'must be text')

const requiredText = () => text().min(1, 'must not be empty')
const optionalText = () =>
  text()
    .nullish()
    .transform((value) => value ?? null)

/** The provider's short form of a customer lacks fields that the table requires (ruling 142). */
const textOrEmpty = () =>
  text()
    .nullish()
    .transform((value) => value ?? '')

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

const time = () =>
  z
    .string()
    .refine((value) => timePattern.test(value) && !Number.isNaN(Date.parse(value)), 'must be a time in ISO 8601')
    .transform((value) => new Date(value).toISOString())
    .refine((value) => /^\d{4}-/.test(value) && !value.startsWith('0000'), 'must be in a year from 1 to 9999')

const network = () => z.string().transform(normalizeNetwork).pipe(oneOf(networks))

const address = z.object({ id: uuid(), address: requiredText().max(128), network: network(), created_at: time() })

const Customer = z
  .object({
    id: uuid(),
    customer_type: oneOf(customerTypes),
    email: textOrEmpty(),
    phone: textOrEmpty(),
    created_at: time(),
    updated_at: time(),
    status: oneOf(customerStatuses),
    address: z
      .object({
        ...{ line_1: optionalText(), line_2: optionalText(), street1: optionalText(), street2: optionalText() },
        ...{ city: textOrEmpty(), state: textOrEmpty(), postal_code: optionalText(), country: textOrEmpty() },
      })
      .nullish(),
    personal_info: z
      .object({
        ...{ first_name: optionalText(), middle_name: optionalText(), last_name: optionalText() },
        birth_date: time().nullish(),
      })
      .nullish(),
    financial_info: z
      .object({
        ...{ account_purpose: optionalText(), employment_status: optionalText() },
        ...{ expected_monthly_income: optionalText(), most_recent_occupation: optionalText() },
        source_of_funds: optionalText(),
      })
      .nullish(),
    business_info: z
      .object({ business_name: optionalText(), business_type: optionalText(), business_website: optionalText() })
      .nullish(),
  })
  .transform((body): SourceCustomer => {
    const { address, personal_info: person, financial_info: finance, business_info: business } = body
    return {
      id: body.id,
      customerType: body.customer_type,
      email: body.email,
      phone: body.phone,
      status: body.status,
      addressLine1: address?.line_1 ?? address?.street1 ?? '',
      addressLine2: address?.line_2 ?? address?.street2 ?? null,
      city: address?.city ?? '',
      state: address?.state ?? '',
      postalCode: address?.postal_code ?? null,
      country: address?.country ?? '',
      firstName: person?.first_name ?? null,
      middleName: person?.middle_name ?? null,
      lastName: person?.last_name ?? null,
      birthDate: person?.birth_date ?? null,
      accountPurpose: finance?.account_purpose ?? null,
      employmentStatus: finance?.employment_status ?? null,
      expectedMonthlyIncome: finance?.expected_monthly_income ?? null,
      mostRecentOccupation: finance?.most_recent_occupation ?? null,
      sourceOfFunds: finance?.source_of_funds ?? null,
      businessName: business?.business_name ?? null,
      businessType: business?.business_type ?? null,
      businessWebsite: business?.business_website ?? null,
      createdAt: body.created_at,
      updatedAt: body.updated_at,
    }
  })

const optionalId = () =>
  uuid()
    .nullish()
    .transform((id) => id ?? null)

const commonMethodFields = {
  id: uuid(),
  currency: requiredText(),
  created_at: time(),
  updated_at: time(),
  customer_id: optionalId(),
}

const absentMethodColumns = {
  ...{ accountName: null, accountNumber: null, bankName: null, bankCode: null },
  ...{ sortCode: null, swiftCode: null, routingNumber: null, iban: null },
  ...{ label: null, walletAddress: null, network: null },
}

const PayoutMethod = z
  .discriminatedUnion('type', [
    z.object({
      ...commonMethodFields,
      type: z.literal('BANK'),
      ...{ account_name: text(), account_number: requiredText(), bank_name: text(), bank_code: text() },
      ...{ sort_code: optionalText(), swift_code: optionalText(), routing_number: optionalText() },
      iban: optionalText(),
    }),
    z.object({
      ...commonMethodFields,
      type: z.literal('WALLET'),
      ...{ label: optionalText(), wallet_address: requiredText(), network: network() },
    }),
  ])
  .transform((body): SourcePayoutMethod => {
    const { id, type, currency, created_at: createdAt, updated_at: updatedAt, customer_id: customerId } = body
    const common = { ...absentMethodColumns, id, type, currency, createdAt, updatedAt, customerId }
    if (body.type === 'WALLET') {
      return { ...common, label: body.label, walletAddress: body.wallet_address, network: body.network }
    }
    return {
      ...common,
      accountName: body.account_name,
      accountNumber: body.account_number,
      bankName: body.bank_name,
      bankCode: body.bank_code,
      sortCode: body.sort_code,
      swiftCode: body.swift_code,
      routingNumber: body.routing_number,
      iban: body.iban,
    }
  })

const balance = () =>
  z.string().transform((value, context): Amount => {
    const parsed = parseAmount(value)
    if (parsed !== null) return parsed
    context.issues.push({
      code: 'custom',
      input: value,
      message: 'must be a decimal string of at least zero, with at most ten digits before the point and eight after it',
    })
    return z.NEVER
  })

/** A new wallet of the original provider has the status `pending` but can already be used (ruling 141). */
const importedWalletStatuses = { active: 'active', pending: 'active', suspended: 'suspended' } as const

const walletStatus = () =>
  z.enum(['active', 'pending', 'suspended']).transform((status) => importedWalletStatuses[status])

const Wallet = z
  .object({
    id: uuid(),
    asset_type: oneOf(assetTypes),
    currency: requiredText(),
    balance: balance(),
    description: textOrEmpty(),
    status: walletStatus(),
    created_at: time(),
    updated_at: time(),
    customer_id: optionalId(),
    addresses: z.union([z.array(z.unknown()), z.looseObject({})]).nullish(),
  })
  .transform((body, context): SourceWallet => {
    const { addresses, created_at: createdAt, updated_at: updatedAt } = body
    const { id, asset_type: assetType, currency, balance, description, status, customer_id: customerId } = body
    const row = { id, assetType, currency, balance, description, status, customerId, createdAt, updatedAt }
    if (assetType === 'FIAT') return { ...row, addresses: [] }
    if (!Array.isArray(addresses) || !addresses.every(hasId)) return { ...row, addresses: null }
    const parsed = z.array(address).safeParse(addresses)
    if (parsed.success) {
      return { ...row, addresses: parsed.data.map(({ created_at, ...each }) => ({ ...each, createdAt: created_at })) }
    }
    for (const issue of parsed.error.issues) {
      context.issues.push({
        code: 'custom',
        input: addresses,
        path: ['addresses', ...issue.path],
        message: issue.message,
      })
    }
    return z.NEVER
  })

function hasId(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'id' in value
}

export const parseSourceCustomer = (value: unknown) => parseObject(Customer, value)
export const parseSourcePayoutMethod = (value: unknown) => parseObject(PayoutMethod, value)
export const parseSourceWallet = (value: unknown) => parseObject(Wallet, value)

function parseObject<Schema extends z.ZodType>(schema: Schema, value: unknown): SourceObject<z.output<Schema>> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return { row: parsed.data }
  const [first] = findFieldErrors(schema, value)
  const { id } = Object(value) as { id?: unknown }
  return {
    // A long id could fill the import report, so the id is truncated.
    id: typeof id === 'string' ? id.slice(0, 36) : null,
    problem: first === undefined ? 'is malformed' : `${first.field === '' ? 'it' : first.field} ${first.message}`,
  }
}
