import Sqlite from 'better-sqlite3'
import { createWebhookEndpoint } from '../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import type { Caller } from '../../src/operations/access/api-caller.ts'
import { systemCaller } from '../../src/operations/access/api-caller.ts'
import type { Service } from '../../src/operations/context.ts'
import { createContext } from '../../src/operations/context.ts'
import { perform } from '../support/perform.ts'

/** Ids of large objects by type; `PayoutOfCustomer` and `WalletOfCustomer` belong to the customer. */
export type Ids = Readonly<Record<string, readonly string[]>>

const endpoints = 50
const deliveriesOfEach = 100
const attemptsOfEach = 20
const longHistory = 20

/**
 * Adds objects that `fill` does not write: endpoints with deliveries and attempts, payouts in the attention queue
 * with long timelines, and deposits that wait for confirmations.
 */
export async function addTroubles(service: Service, path: string, merchantId: string): Promise<void> {
  const context = createContext(service, merchantId)
  const endpointIds: string[] = []
  for (let i = 0; i < endpoints; i++) {
    const url = `https://example.com/hooks/${i}`
    endpointIds.push((await perform(createWebhookEndpoint, context, { url, description: `Endpoint ${i}` })).id)
  }
  const db = new Sqlite(path)
  db.transaction(() => {
    for (const [place, endpointId] of endpointIds.entries()) addDeliveries(db, { merchantId, endpointId, place })
    addAttention(db, merchantId)
    addPending(db, merchantId)
  })()
  db.close()
}

const at = '2026-01-01T00:00:00.000Z'

type Endpoint = { readonly merchantId: string; readonly endpointId: string; readonly place: number }

function addDeliveries(db: Sqlite.Database, { merchantId, endpointId, place }: Endpoint): void {
  const delivery = db.prepare(
    `insert into webhook_deliveries select merchant_id, ?, sequence, object_id, 'exhausted', ?, 0, null, ? from events
      where merchant_id = ? order by sequence desc limit ?`,
  )
  delivery.run(endpointId, attemptsOfEach, at, merchantId, deliveriesOfEach)
  // Long response bodies for a few: all would take a hundred megabytes.
  const answer = place < 5 ? 'x'.repeat(1_024) : 'no'
  const attempt = db.prepare(
    `insert into webhook_attempts select merchant_id, endpoint_id, sequence, ?, ?, 5, 500, ?, null from webhook_deliveries
      where merchant_id = ? and endpoint_id = ?`,
  )
  for (let i = 1; i <= attemptsOfEach; i++) attempt.run(i, at, answer, merchantId, endpointId)
}

function addAttention(db: Sqlite.Database, merchantId: string): void {
  const history = Array.from({ length: longHistory }, (_, i) => ({
    state: i < 2 ? 'ACCEPTED' : 'ATTENTION',
    at,
    cause: `The bank says for the ${i}th time that it knows nothing of it.`,
  }))
  db.prepare(
    `insert into payout_transfers select reference_id, merchant_id, id, 'bank', 'ATTENTION', null, 1, 1, ?, 'B-1', null, ?, ?, updated_at
      from payouts where merchant_id = ? order by sequence desc limit 200`,
  ).run(at, JSON.stringify(history), at, merchantId)
}

function addPending(db: Sqlite.Database, merchantId: string): void {
  const deposit = db.prepare(
    `insert into chain_deposits select merchant_id, network, ? || id, 0, ? || id, id, wallet_id, 'USDC', 1000000, 1, 'DETECTED', null,
      null, 'node', ?, null, ? from wallet_addresses where merchant_id = ?`,
  )
  for (let i = 0; i < 20; i++) deposit.run(`0x${i}`, `pending ${i} `, at, at, merchantId)
}

/** Ids that documents can use. */
export function idsOf(path: string, merchantId: string, customerId: string): Ids {
  const db = new Sqlite(path, { readonly: true })
  const ids = (sql: string) => db.prepare<unknown[], string>(`${sql} limit 100`).pluck().all(merchantId)
  const ofCustomer = `and customer_id = '${customerId}'`
  const of = (table: string, where = '') =>
    ids(`select id from ${table} where merchant_id = ? ${where} order by id desc`)
  const payouts = of('payouts')
  const idsByType = {
    Payout: payouts,
    PayoutOfCustomer: of('payouts', ofCustomer),
    Customer: [customerId, ...of('customers')],
    Wallet: ids(`select wallet_id from payouts where merchant_id = ? group by 1 order by count(*) desc`),
    WalletOfCustomer: of('wallets', ofCustomer),
    BankPayoutMethod: of('payout_methods', `and type = 'BANK'`),
    WalletPayoutMethod: of('payout_methods', `and type = 'WALLET'`),
    WebhookEndpoint: of('webhook_endpoints'),
    transactionId: ids('select transaction_id from payouts where merchant_id = ? order by sequence'),
    referenceId: ids('select reference_id from payouts where merchant_id = ? order by sequence'),
  }
  db.close()
  return idsByType
}

/** A caller with one customer's client token. */
export function asCustomer(customerId: string): Caller {
  return { ...systemCaller, tokenId: 'token', scopes: ['read'], customerId }
}
