import type { Context } from '../../../src/context.ts'
import { createContext } from '../../../src/context.ts'
import { closeCustomer } from '../../../src/customers/close-customer.ts'
import { createCustomer } from '../../../src/customers/create-customer.ts'
import { globalId } from '../../../src/graphql/global-ids.ts'
import { createMerchant } from '../../../src/merchants/create-merchant.ts'
import { createBankPayoutMethod, createWalletPayoutMethod } from '../../../src/payout-methods/create-payout-method.ts'
import { deletePayoutMethod } from '../../../src/payout-methods/delete-payout-method.ts'
import { createPayout } from '../../../src/payouts/create-payout.ts'
import { simulatePayout } from '../../../src/payouts/simulate-payout.ts'
import { createWallet } from '../../../src/wallets/create-wallet.ts'
import { depositToWallet } from '../../../src/wallets/deposit-to-wallet.ts'
import type { App, Engine } from '../../support/app.ts'
import { startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { whatIsStored } from '../../support/stored.ts'

/** The types of the schema whose things have ids. */
export const nodeTypes = [
  'AssetCode',
  'AssetNetwork',
  'BankPayoutMethod',
  'Customer',
  'LedgerEntry',
  'Merchant',
  'Payout',
  'Wallet',
  'WalletAddress',
  'WalletPayoutMethod',
] as const
export type NodeType = (typeof nodeTypes)[number]

/** A thing that has an id: `id` is what its global id is of, a UUID but for a ledger entry. */
export type Thing = { readonly type: NodeType; readonly id: string }

/** What one merchant says of itself, so that it is recognised wherever it shows. */
export type Words = {
  readonly text: (field: string) => string
  readonly digits: string
  readonly website: string
  readonly iban: string
  readonly bic: string
  readonly cryptoAddress: string
  /** Units and places that no other amount has. */
  readonly deposit: string
  readonly amount: string
  readonly income: string
  readonly birthDate: string
}

export const ownWords: Words = {
  text: (field) => `Own ${field}`,
  digits: '0690000032',
  website: 'https://own.example.com',
  iban: 'GB82WEST12345698765432',
  bic: 'DEUTDEFF',
  cryptoAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  deposit: '1000',
  amount: '10',
  income: '1000.00',
  birthDate: '1991-04-17',
}

export const foreignWords: Words = {
  text: (field) => `Kanarienvogel ${field}`,
  digits: '7719283746',
  website: 'https://kanarienvogel.example.org',
  iban: 'DE89370400440532013000',
  bic: 'COBADEFF',
  cryptoAddress: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  deposit: '7391.73918264',
  amount: '61.19283746',
  income: '77123.45',
  birthDate: '1953-11-29',
}

/** What a merchant has: something of everything, owned by itself and by two customers, in every status. */
export type World = Awaited<ReturnType<typeof populate>>

export type Worlds = Awaited<ReturnType<typeof startWorlds>>

/** Two merchants that have everything, the other one's things at a time of their own, and all by which those are known. */
export async function startWorlds(engine: Engine) {
  let now = Date.parse('2026-03-01T12:00:00.000Z')
  const app = await startApp(engine, { clock: () => now })
  const ours = await populate(app, app.merchant.id, ownWords)
  now = Date.parse('2026-03-07T07:07:07.707Z')
  const other = await createMerchant(app.service, { name: 'Kanarienvogel' })
  const theirs = await populate(app, other.id, foreignWords)
  now = Date.parse('2026-03-09T12:00:00.000Z')
  return { app, other, ours, theirs, canaries: ['Kanarienvogel', ...(await canariesOf(app, other.id))] }
}

/** Fills an empty merchant through the operations. */
export async function populate(app: App, merchantId: string, words: Words) {
  const context = (key: string | null = null): Context => createContext(app.service, merchantId, key)
  const details = {
    email: `${words.text('mail').replace(' ', '.')}@example.com`.toLowerCase(),
    phone: `+234${words.digits}`,
    addressLine1: words.text('street'),
    addressLine2: words.text('flat'),
    city: words.text('city'),
    state: words.text('state'),
    postalCode: words.digits.slice(0, 6),
    country: words.text('country'),
    firstName: words.text('first name'),
    middleName: words.text('middle name'),
    lastName: words.text('last name'),
    birthDate: words.birthDate,
    accountPurpose: words.text('purpose'),
    employmentStatus: words.text('employment'),
    expectedMonthlyIncome: words.income,
    mostRecentOccupation: words.text('occupation'),
    sourceOfFunds: words.text('source'),
  }
  const business = {
    businessName: words.text('company'),
    businessType: words.text('legal form'),
    businessWebsite: words.website,
  }
  const newCustomer = async (isBusiness = false) => {
    const customerType = isBusiness ? ('business' as const) : ('individual' as const)
    const { id } = await perform(createCustomer, context(), { ...details, ...(isBusiness && business), customerType })
    return id
  }
  const newBankMethod = async (customerId: string | null, currency = 'NGN') => {
    const { id } = await perform(createBankPayoutMethod, context(), {
      type: 'BANK',
      customerId,
      currency,
      accountName: words.text('account name'),
      accountNumber: words.digits,
      bankName: words.text('bank'),
      bankCode: words.digits.slice(-3),
      sortCode: words.digits.slice(0, 6),
      swiftCode: words.bic,
      routingNumber: words.digits.slice(0, 9),
      iban: words.iban,
    })
    return id
  }
  const newCryptoMethod = async (customerId: string | null) => {
    const { id } = await perform(createWalletPayoutMethod, context(), {
      type: 'WALLET',
      customerId,
      currency: 'USDC',
      walletAddress: words.cryptoAddress,
      network: 'erc20',
      label: words.text('label'),
    })
    return id
  }
  const deleted = async (payoutMethodId: string, customerId: string | null) => {
    await perform(deletePayoutMethod, context(), { payoutMethodId, customerId })
    return payoutMethodId
  }
  const newWallet = async (customerId: string | null, currency = 'USDC') => {
    const network = currency.startsWith('USD') ? 'solana' : null
    const description = words.text(`wallet in ${currency}`)
    const { id } = await perform(createWallet, context(), { currency, description, customerId, network })
    await depositToWallet(context(), { walletId: id, amount: words.deposit, reference: words.text(`deposit ${id}`) })
    return id
  }
  const newPayout = async (customerId: string | null, payoutMethodId: string | null = null) => {
    const recipient = payoutMethodId
      ? { payoutMethodId }
      : {
          accountNumber: words.digits,
          bankName: words.text('bank'),
          bankCode: words.digits.slice(-3),
          recipientName: words.text('recipient'),
          recipientCurrency: 'NGN' as const,
          recipientCountry: 'Nigeria' as const,
        }
    const { id } = await perform(createPayout, context(app.service.newId()), {
      customerId,
      assetCode: 'USDC',
      amount: words.amount,
      narration: words.text('narration'),
      ...recipient,
    })
    return id
  }
  const settle = async (payoutId: string, ...statuses: readonly ('COMPLETED' | 'FAILED' | 'RETURNED')[]) => {
    for (const status of statuses)
      await perform(simulatePayout, context(), { payoutId, status, cause: words.text('cause') })
    return payoutId
  }

  const person = await newCustomer()
  const company = await newCustomer(true)
  const closed = await newCustomer()
  const methods = {
    merchantBank: await newBankMethod(null),
    merchantCrypto: await newCryptoMethod(null),
    personBank: await newBankMethod(person),
    personCrypto: await newCryptoMethod(person),
    companyBank: await newBankMethod(company),
    spareBank: await newBankMethod(person),
    deletedBank: await deleted(await newBankMethod(null), null),
    deletedCrypto: await deleted(await newCryptoMethod(null), null),
    deletedOfPerson: await deleted(await newBankMethod(person), person),
  }
  const wallets = {
    merchant: await newWallet(null),
    merchantFiat: await newWallet(null, 'NGN'),
    person: await newWallet(person),
    company: await newWallet(company),
    closed: await newWallet(closed),
  }
  await perform(closeCustomer, context(), { customerId: closed })
  const payouts = {
    merchant: await newPayout(null, methods.merchantBank),
    person: await newPayout(person, methods.personBank),
    company: await newPayout(company),
    completed: await settle(await newPayout(null), 'COMPLETED'),
    failed: await settle(await newPayout(null), 'FAILED'),
    returned: await settle(await newPayout(person), 'COMPLETED', 'RETURNED'),
  }
  const { entries = [], wallet_addresses = [] } = await storedOf(app, merchantId)
  const walletIds = new Set<unknown>(Object.values(wallets))
  const entryIds = entries
    .filter(({ account_id }) => walletIds.has(account_id))
    .map(({ transfer_id, line }) => `${transfer_id}:${line}`)

  return {
    merchantId,
    context,
    words,
    person,
    company,
    closed,
    methods,
    wallets,
    payouts,
    entryIds,
    addressIds: wallet_addresses.map(({ id }) => String(id)),
    newCustomer,
    newBankMethod,
    newCryptoMethod,
    newWallet,
    newPayout,
  }
}

/** The things of a merchant that exist, by type. */
export function thingsOf(world: World): Thing[] {
  const { methods, wallets, payouts, person, company, closed, merchantId, entryIds, addressIds } = world
  const of = (type: NodeType, ids: readonly string[]) => ids.map((id) => ({ type, id }))
  return [
    ...of('Merchant', [merchantId]),
    ...of('Customer', [person, company, closed]),
    ...of('BankPayoutMethod', [methods.merchantBank, methods.personBank, methods.spareBank, methods.companyBank]),
    ...of('WalletPayoutMethod', [methods.merchantCrypto, methods.personCrypto]),
    ...of('Wallet', Object.values(wallets)),
    ...of('WalletAddress', addressIds.slice(0, 2)),
    ...of('Payout', Object.values(payouts)),
    ...of('LedgerEntry', entryIds.slice(0, 2)),
  ]
}

/** The things that it had and that are gone. */
export function deletedThingsOf({ methods }: World): Thing[] {
  return [
    { type: 'BankPayoutMethod', id: methods.deletedBank },
    { type: 'WalletPayoutMethod', id: methods.deletedCrypto },
    { type: 'BankPayoutMethod', id: methods.deletedOfPerson },
  ]
}

/** Every spelling that an id argument takes for a thing, the UUID itself first. */
export function spellingsOf({ type, id }: Thing): string[] {
  const forms = [globalId(type, id), globalId(type, id.toUpperCase())]
  return type === 'LedgerEntry' ? forms : [id, id.toUpperCase(), ...forms]
}

type StoredRow = Readonly<Record<string, unknown>>

/** The rows of one merchant, by table. */
export function storedOf(app: App, merchantId: string): Promise<Record<string, StoredRow[]>> {
  return rowsWhere(app, (row, table) => ownerOfRow(row, table) === merchantId)
}

/**
 * Everything by which the data of a merchant is recognised: each text and amount that is stored of it and of nobody else.
 */
export async function canariesOf(app: App, merchantId: string): Promise<string[]> {
  const isTheirs = (row: StoredRow, table: string) => ownerOfRow(row, table) === merchantId
  const theirs = signsOf(await rowsWhere(app, isTheirs))
  const others = signsOf(await rowsWhere(app, (row, table) => !isTheirs(row, table)))
  return [...theirs].filter((sign) => !others.has(sign))
}

function signsOf(tables: Record<string, StoredRow[]>): Set<string> {
  const values = Object.values(tables)
    .flat()
    .flatMap((row) => Object.values(row))
  return new Set(values.map(String).flatMap(signsIn))
}

/** A text as it is, and an amount in units as answers show it; what is short may be anybody's. */
function signsIn(value: string): string[] {
  if (/^\d{8,18}$/.test(value)) return [value, `${value.slice(0, -8) || '0'}.${value.slice(-8)}`]
  return value.length >= 6 ? [value] : []
}

function ownerOfRow(row: StoredRow, table: string): unknown {
  return table === 'merchants' ? row.id : row.merchant_id
}

async function rowsWhere(
  app: App,
  isWanted: (row: StoredRow, table: string) => boolean,
): Promise<Record<string, StoredRow[]>> {
  return Object.fromEntries(
    Object.entries(await whatIsStored(app)).map(([table, rows]) => [
      table,
      rows.map((row) => JSON.parse(row) as StoredRow).filter((row) => isWanted(row, table)),
    ]),
  )
}
