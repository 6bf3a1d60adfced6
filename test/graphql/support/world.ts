import { insertRow } from '../../../src/database/query.ts'
import { toGlobalId } from '../../../src/graphql/schema/global-ids.ts'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { listEvents } from '../../../src/modules/events/list-events.ts'
import { createMerchant } from '../../../src/modules/merchants/create-merchant.ts'
import { eventsAfter } from '../../../src/modules/outbox/repository.ts'
import type { PayoutMethodType } from '../../../src/modules/payout-methods/payout-method.ts'
import { deleteWebhookEndpoint } from '../../../src/modules/webhooks/endpoints/delete-webhook-endpoint.ts'
import { lockWebhookEndpointById, storeWebhookEndpoint } from '../../../src/modules/webhooks/endpoints/repository.ts'
import { testWebhookEndpoint } from '../../../src/modules/webhooks/endpoints/test-webhook-endpoint.ts'
import type { App, Engine } from '../../support/app.ts'
import { startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'
import { dueTime } from '../../support/times.ts'
import type { Words } from './makers.ts'
import { makersFor } from './makers.ts'

/** The types of the schema that have ids. */
export const nodeTypes = [
  'AssetCode',
  'AssetNetwork',
  'BankPayoutMethod',
  'Customer',
  'Event',
  'LedgerEntry',
  'Merchant',
  'Payout',
  'Wallet',
  'WalletAddress',
  'WalletPayoutMethod',
  'WebhookEndpoint',
] as const
export type NodeType = (typeof nodeTypes)[number]

export const nodeTypesOfMethods: Record<PayoutMethodType, NodeType> = {
  BANK: 'BankPayoutMethod',
  WALLET: 'WalletPayoutMethod',
}

/** An object with an id: `id` is the decoded global id, a UUID except for ledger entries and events. */
export type Thing = { readonly type: NodeType; readonly id: string }

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

/** The objects of a merchant: some of every type, owned by itself and by two customers, in every status. */
export type World = Awaited<ReturnType<typeof populate>>

export type Worlds = Awaited<ReturnType<typeof startWorlds>>

/**
 * Two merchants with objects of every type, the second one's at different times, and the texts that identify the
 * second one's data.
 */
export async function startWorlds(engine: Engine) {
  let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
  const app = await startApp(engine, { clock: () => nowMs })
  const ours = await populate(app, app.merchant.id, ownWords)
  nowMs = Date.parse('2026-03-07T07:07:07.707Z')
  const other = await createMerchant(app.service, { name: 'Kanarienvogel' })
  const theirs = await populate(app, other.id, foreignWords)
  nowMs = Date.parse('2026-03-09T12:00:00.000Z')
  return { app, other, ours, theirs, canaries: ['Kanarienvogel', ...(await canariesOf(app, other.id))] }
}

/** Fills an empty merchant through the operations. */
export async function populate(app: App, merchantId: string, words: Words) {
  const makers = makersFor(app, merchantId, words)
  const { context, newCustomer, newBankMethod, newCryptoMethod, deleted, newWallet, newPayout, settle } = makers
  const { newCarriedPayout, newContradictedPayout, newWebhook } = makers

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
    carried: await newCarriedPayout(),
    contradicted: await newContradictedPayout(),
    alsoContradicted: await newContradictedPayout(),
  }
  const webhooks = { used: await newWebhook(), spare: await newWebhook(), deleted: await newWebhook() }
  await perform(deleteWebhookEndpoint, context(), { webhookId: webhooks.deleted })
  await perform(testWebhookEndpoint, context(), { webhookId: webhooks.spare })
  await fail(app, { merchantId, id: webhooks.used }, words)
  const { entries = [], wallet_addresses = [], ...stored } = await storedOf(app, merchantId)
  const walletIds = new Set<unknown>(Object.values(wallets))
  const entryIds = entries
    .filter(({ account_id }) => walletIds.has(account_id))
    .map(({ transfer_id, line }) => `${transfer_id}:${line}`)

  const { items: events } = await listEvents(context(), { limit: 100 })

  return {
    merchantId,
    words,
    person,
    company,
    closed,
    methods,
    wallets,
    payouts,
    webhooks,
    entryIds,
    eventIds: events.map(({ id }) => id),
    addressIds: wallet_addresses.map(({ id }) => String(id)),
    ...transactionIdsIn(stored, walletIds),
    ...makers,
  }
}

/** The ids of the deposits to some wallets, and the references of the payouts from them. */
export function transactionIdsIn(
  { deposits = [], payouts = [] }: Awaited<ReturnType<typeof storedOf>>,
  walletIds: ReadonlySet<unknown>,
) {
  return {
    depositIds: deposits
      .filter(({ wallet_id }) => walletIds.has(wallet_id))
      .map(({ transfer_id }) => String(transfer_id)),
    references: payouts
      .filter(({ wallet_id }) => walletIds.has(wallet_id))
      .map(({ reference_id }) => String(reference_id)),
  }
}

/** Makes an endpoint look disabled after a failed first event, and enabled again. */
async function fail({ db }: App, { merchantId, id }: { merchantId: string; id: string }, words: Words): Promise<void> {
  await db.write(
    async (tx) => {
      const [event] = await eventsAfter(tx, { merchantId, after: 0, limit: 1 })
      const endpoint = await lockWebhookEndpointById(tx, { merchantId, id })
      if (!event || !endpoint) throw new Error('there is nothing to deliver')
      const { sequence, objectId } = event
      const at = endpoint.createdAt
      const failing = { failures: 20, failingSince: at, status: 'disabled', disabledReason: 'failing' } as const
      await storeWebhookEndpoint(tx, { ...endpoint, ...failing })
      const key = { merchantId, endpointId: id, sequence }
      const times = { nextAttemptAt: dueTime(Date.parse(at)), createdAt: at }
      await insertDelivery(tx, { ...key, objectId, status: 'pending', attempts: 1, attemptsBefore: 0, ...times })
      const answer = words.text('answer')
      const error = words.text('error')
      await insertAttempt(tx, { ...key, attempt: 1, attemptedAt: at, durationMs: 7, status: 500, answer, error })
    },
    { merchantId },
  )
}

const insertDelivery = insertRow('webhookDeliveries')
const insertAttempt = insertRow('webhookAttempts')

/** The existing objects of a merchant, by type. */
export function thingsOf(world: World): Thing[] {
  const { methods, wallets, payouts, webhooks, person, company, closed, merchantId, entryIds, eventIds, addressIds } =
    world
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
    ...of('Event', eventIds.slice(0, 2)),
    ...of('WebhookEndpoint', [webhooks.used, webhooks.spare]),
  ]
}

/** The deleted objects of a merchant. */
export function deletedThingsOf({ methods, webhooks }: World): Thing[] {
  return [
    { type: 'BankPayoutMethod', id: methods.deletedBank },
    { type: 'WalletPayoutMethod', id: methods.deletedCrypto },
    { type: 'BankPayoutMethod', id: methods.deletedOfPerson },
    { type: 'WebhookEndpoint', id: webhooks.deleted },
  ]
}

/** Whether objects of a type are identified by a UUID. */
export function hasUuid(type: string): boolean {
  return type !== 'LedgerEntry' && type !== 'Event'
}

/** Every spelling of an id that an argument accepts, the UUID first. */
export function spellingsOf({ type, id }: Thing): string[] {
  const forms = [toGlobalId(type, id), toGlobalId(type, id.toUpperCase())]
  return !hasUuid(type) ? forms : [id, id.toUpperCase(), ...forms]
}

type StoredRow = Readonly<Record<string, unknown>>

/** The rows of one merchant, by table. */
export function storedOf(app: App, merchantId: string): Promise<Record<string, StoredRow[]>> {
  return rowsWhere(app, (row, table) => ownerOfRow(row, table) === merchantId)
}

/** Everything that identifies the data of a merchant: each stored text and amount that no other merchant has. */
export async function canariesOf(app: App, merchantId: string): Promise<string[]> {
  const isTheirs = (row: StoredRow, table: string) => ownerOfRow(row, table) === merchantId
  const theirs = signsOf(await rowsWhere(app, isTheirs))
  const others = signsOf(await rowsWhere(app, (row, table) => !isTheirs(row, table)))
  return [...theirs].filter((sign) => !others.has(sign))
}

/** Each text and amount in some rows that could identify them. */
export function signsOf(tables: Record<string, StoredRow[]>): Set<string> {
  const values = Object.values(tables)
    .flat()
    .flatMap((row) => Object.values(row))
  return new Set(values.map(String).flatMap(signsIn))
}

/** A text as it is, and an amount in units as responses show it; short values identify nothing. */
function signsIn(value: string): string[] {
  if (/^\d{8,18}$/.test(value)) return [value, `${value.slice(0, -8) || '0'}.${value.slice(-8)}`]
  return value.length >= 6 ? [value] : []
}

/**
 * The signs that a text contains. A sign of digits must stand alone: some have six digits, and six digits occur
 * in some UUIDs by chance.
 */
export function findSigns(text: string, signs: readonly string[]): string[] {
  return signs.filter(
    (sign) =>
      text.includes(sign) && (/\D/.test(sign) || new RegExp(`(?<![\\da-z])${sign}(?![\\da-z])`, 'i').test(text)),
  )
}

function ownerOfRow(row: StoredRow, table: string): unknown {
  return table === 'merchants' ? row.id : row.merchant_id
}

async function rowsWhere(
  app: App,
  isWanted: (row: StoredRow, table: string) => boolean,
): Promise<Record<string, StoredRow[]>> {
  return Object.fromEntries(
    Object.entries(await readStoredRows(app)).map(([table, rows]) => [
      table,
      rows.map((row) => JSON.parse(row) as StoredRow).filter((row) => isWanted(row, table)),
    ]),
  )
}
