import { join } from 'node:path'
import type { BenchDatabase } from './data.ts'
import { copyDatabase, isBalanced } from './data.ts'
import { createPayout } from './documents.ts'
import { isLeanBalanced, leanCopyOf } from './lean-books.ts'
import type { Load } from './load.ts'
import type { Measure, Target } from './measures.ts'
import { dataOf, plain, service, yardstick } from './measures.ts'
import type { PlainForm } from './plain-payout.ts'
import { plainForms } from './plain-payout.ts'
import type { ServerSpec } from './servers.ts'

const request = {
  currency: 'USDC',
  amount: '1',
  recipient_name: 'Ada Obi',
  account_number: '0690000031',
  bank_name: 'Access Bank',
  bank_code: '044',
  recipient_currency: 'NGN',
  recipient_country: 'Nigeria',
  payment_purpose: 'GIFTS',
}

export function restPayouts(apiKeys: readonly string[]): Load {
  return { path: '/api/payouts/banks', body: JSON.stringify(request), headers: { 'idempotency-key': '{key}' }, apiKeys }
}

function graphqlPayouts(apiKeys: readonly string[]): Load {
  const { currency: assetCode, amount, payment_purpose: paymentPurpose } = request
  const bankAccount = {
    accountNumber: request.account_number,
    bankName: request.bank_name,
    bankCode: request.bank_code,
    recipientName: request.recipient_name,
    recipientCurrency: request.recipient_currency,
    recipientCountry: 'NIGERIA',
  }
  const input = { assetCode, amount, paymentPurpose, recipient: { bankAccount }, idempotencyKey: '{key}' }
  return { path: '/graphql', body: JSON.stringify({ query: createPayout, variables: { input } }), apiKeys }
}

/** A payout's response without its id and times. */
function paidOf(body: unknown): unknown {
  const { id, transaction_id, reference_id, created_at, updated_at, ...said } = dataOf(body)
  return said
}

/** The service on a separate file, whose books must balance afterwards. */
function writing(path: string, options = {}): ServerSpec {
  return { ...service(`sqlite:${path}`, options), isBalanced: () => isBalanced(path) }
}

/**
 * Payouts on SQLite compared with lean ones, in one transaction each or in groups, every server on its own copy of
 * the data.
 *
 * The target against one transaction each is requests per second, which is the purpose of a group; against the lean
 * group it is CPU time, because both wait for the same disk.
 */
export function payouts(data: BenchDatabase, folder: string, { isQuick }: { isQuick: boolean }): Measure[] {
  const paying = (clients: number, reach: number, aim: number): Measure => {
    const own = (name: string, options = {}) => writing(copyDatabase(data, folder, `${name}-${clients}`), options)
    const lean = (name: string, form: 'alone' | 'group'): ServerSpec => {
      const path = leanCopyOf(data, folder, `lean-${form}-${clients}`)
      return { ...plain(name, 'lean-payouts.ts', [path, form], data), isBalanced: () => isLeanBalanced(path) }
    }
    const alone: Target = { against: 'lean, one transaction each', reach, aim, by: 'requests' }
    const group: Target = { against: 'lean, in groups', reach: 1 / 1.5, aim: 1 / 1.2, by: 'cpu' }
    const careless: Target = { against: 'service at NORMAL', reach: 0.7, aim: 0.95 }
    const isCrowd = clients === 64
    const servers = [own('grouped'), lean(alone.against, 'alone')]
    if (isCrowd) servers.push(lean(group.against, 'group'))
    if (isCrowd && !isQuick) servers.push(own('grouped-normal', { name: careless.against, words: withoutSync }))
    const targets = [alone, group, careless].filter(({ against }) => servers.some(({ name }) => name === against))
    return {
      name: isCrowd ? 'payouts' : `payouts-${clients}`,
      title: `REST: payouts, ${clients === 1 ? '1 client' : `${clients} clients`}`,
      clients,
      subjects: servers.map((server) => ({
        name: server.name,
        server,
        load: restPayouts([data.apiKey]),
        valueOf: paidOf,
      })),
      targets,
    }
  }
  return [
    paying(1, 0.8, 0.95),
    ...(isQuick ? [] : [paying(16, 2, 3)]),
    paying(64, 3, 4.6),
    ...(isQuick ? [] : [paying(256, 3.5, 5)]),
  ]
}

const withoutSync = ['--import', join(import.meta.dirname, 'without-sync.ts')]

/** Payouts by one API compared with the other. */
export function payoutsThroughApis(data: BenchDatabase, folder: string): Measure {
  const path = copyDatabase(data, folder, 'both-apis')
  const server = writing(path)
  return {
    name: 'graphql-payouts',
    title: 'Payouts through GraphQL, 64 clients',
    clients: 64,
    subjects: [
      { name: 'GraphQL', server, load: graphqlPayouts([data.apiKey]), valueOf: paidThroughGraphql },
      { name: 'REST', server, load: restPayouts([data.apiKey]), valueOf: paidThroughRest },
    ],
    targets: [{ against: 'REST', reach: 0.8, aim: 0.95 }],
  }
}

// Both pay from one wallet in sequence, so only the wallet's balance differs.
function paidThroughRest(body: unknown): unknown {
  const { amount, status, fee, amount_fiat, reason, transfer_type, exchange_rate } = dataOf(body)
  return [amount, status, fee, amount_fiat, reason, transfer_type, exchange_rate]
}

function paidThroughGraphql(body: unknown): unknown {
  const { payout } = dataOf(body).createPayout as { payout?: Record<string, unknown> }
  if (!payout) return null
  const { amount, status, fee, amountFiat, reason, transferType, exchangeRate } = payout
  return [amount, status, fee, amountFiat, reason, transferType, exchangeRate]
}

type Merchants = readonly { id: string; apiKey: string }[]

/** A database with merchants that can pay. */
export type Payers = { readonly path: string; readonly merchants: Merchants }

/** The names of copies of one PostgreSQL database, and the merchants in it that can pay. */
export type PostgresPayoutMerchants = {
  readonly url: (database: (typeof databasesOnPostgres)[number]) => string
  readonly merchants: Merchants
}

/** One per server: two servers with different lock orders would deadlock. */
export const databasesOnPostgres = ['service', ...plainForms] as const

/**
 * Payouts of the service, on SQLite and on PostgreSQL, compared with those of the plain forms on PostgreSQL: each
 * client for a separate merchant, or all from one wallet.
 */
export function postgresPayouts(
  { path, merchants: ofFile }: Payers,
  { url, merchants }: PostgresPayoutMerchants,
  { isQuick }: { isQuick: boolean },
): Measure[] {
  const connections = 16
  const of = 'service on PostgreSQL'
  const environment = { MERCHANTS: JSON.stringify(Object.fromEntries(merchants.map(({ id, apiKey }) => [apiKey, id]))) }
  const plainForm = (name: string, form: PlainForm): ServerSpec => ({
    name,
    words: [yardstick('postgres-payouts.ts'), url(form), String(connections), form],
    environment,
    hasPostgres: true,
  })
  const ofServer = [
    { server: writing(path), payers: ofFile },
    ...[
      { ...service(`${url('service')}?pool=${connections}`, { name: of }), hasPostgres: true },
      plainForm('eight round trips', 'transaction'),
      ...(isQuick ? [] : [plainForm('one statement', 'statement')]),
    ].map((server) => ({ server, payers: merchants })),
  ]
  const paying = (
    name: string,
    title: string,
    count: number,
    targets: readonly Omit<Target, 'against'>[],
  ): Measure => ({
    name,
    title: `Payouts against PostgreSQL, 64 clients, ${title}`,
    clients: 64,
    subjects: ofServer.map(({ server, payers }) => ({
      name: server.name,
      server,
      load: restPayouts(payers.slice(0, count).map(({ apiKey }) => apiKey)),
      valueOf: (body) => [dataOf(body).amount, dataOf(body).status],
    })),
    targets: targets.map((target) => ({ against: 'eight round trips', ...target })),
  })
  return [
    paying('postgres-spread', `${merchants.length} merchants`, merchants.length, [
      { reach: 4, aim: 5.5 },
      { of, reach: 1.5, aim: 2, by: 'requests' },
    ]),
    paying('postgres-hot', 'one wallet', 1, [
      { reach: 12, aim: 20 },
      { of, reach: 3, aim: 4, by: 'requests' },
    ]),
  ]
}
