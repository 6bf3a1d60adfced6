import { noSecrets } from '../core/secrets/secrets.ts'
import type { Database } from '../database/database.ts'
import type { Tx } from '../database/query.ts'
import { closeCustomer } from '../modules/customers/close-customer.ts'
import { createCustomer } from '../modules/customers/create-customer.ts'
import type { ApiKey } from '../modules/merchants/api-key.ts'
import { formatApiKey } from '../modules/merchants/api-key.ts'
import { createMerchant } from '../modules/merchants/create-merchant.ts'
import { allMerchants, apiKeyById } from '../modules/merchants/repository.ts'
import { createBankPayoutMethod, createWalletPayoutMethod } from '../modules/payout-methods/create-payout-method.ts'
import { createPayout } from '../modules/payouts/create-payout.ts'
import { settlePayout } from '../modules/payouts/settle-payout.ts'
import { setFee } from '../modules/pricing/fees.ts'
import { setRate } from '../modules/pricing/rates.ts'
import { createWallet } from '../modules/wallets/create-wallet.ts'
import { depositToWallet } from '../modules/wallets/deposit-to-wallet.ts'
import { createWebhookEndpoint } from '../modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { webhookEndpoints } from '../modules/webhooks/endpoints/list.ts'
import { updateWebhookEndpoint } from '../modules/webhooks/endpoints/update-webhook-endpoint.ts'
import type { Context, Service } from '../operations/context.ts'
import { createContext, createService } from '../operations/context.ts'
import { receiverPath } from '../server/rest/service-endpoints.ts'
import { bankMethods, customers, fees, payouts, rates, walletMethods, wallets } from './demo-data.ts'

/**
 * The demo merchant's API key. It is the same in every sandbox, so that examples work when pasted. Live mode rejects
 * it.
 */
export const demoKey: ApiKey = {
  mode: 'sandbox',
  id: 'de300000000000de',
  secret: 'de30'.repeat(12),
}
export const demoApiKey = formatApiKey(demoKey)

/**
 * Seeds an empty database with the demo merchant and the last month of its history, by calling operations.
 *
 * @returns whether the demo exists; it is not created if there are other merchants
 */
export async function seedDemo(service: Service): Promise<boolean> {
  let merchantId: string | null = null
  const hasDemo = await service.db.write(async (tx) => {
    merchantId = null
    if (await apiKeyById(tx, { id: demoKey.id })) return true
    if ((await allMerchants(tx, {})).length > 0) return false
    const clock = createSeedClock(service.now())
    const past = createService({ db: databaseWithin(service.db, tx), mode: 'sandbox', clock: clock.read })
    const merchant = await createMerchant(past, { name: 'Demo merchant' }, demoKey)
    await seedPrices(past)
    await seedHistory(createContext(past, merchant.id), clock)
    merchantId = merchant.id
    return true
  })
  // The endpoint is created last, so that it does not receive the history. There is none without a key to encrypt its
  // secret.
  if (merchantId !== null && service.secrets !== noSecrets) {
    await createWebhookEndpoint(createContext(service, merchantId), sandboxReceiverEndpoint)
  }
  return hasDemo
}

/** An endpoint that shows webhooks without another receiver. Its port is the default one until the service starts. */
const sandboxReceiverEndpoint = {
  url: `http://127.0.0.1:4000${receiverPath}`,
  description: 'The sandbox itself: its deliveries show what it received',
}

/** Updates the URLs of the demo's webhook endpoints, because PORT may have changed. */
export async function pointDemoWebhooksTo(service: Service, origin: string): Promise<void> {
  const key = await apiKeyById(service.db, { id: demoKey.id })
  if (!key) return
  const context = createContext(service, key.merchantId)
  const { items } = await webhookEndpoints.slice(context, { last: 100 })
  const url = origin + receiverPath
  const outdated = items.filter((endpoint) => new URL(endpoint.url).pathname === receiverPath && endpoint.url !== url)
  for (const { id } of outdated) await context.perform(updateWebhookEndpoint, context, { webhookId: id, url })
}

export async function hasDemo({ db }: Pick<Service, 'db'>): Promise<boolean> {
  return (await apiKeyById(db, { id: demoKey.id })) !== null
}

/** Runs the operations' own transactions within `tx`, so that the demo is created once and atomically. */
function databaseWithin(db: Database, tx: Tx): Database {
  return { ...db, execute: tx.execute, snapshot: async (read) => read(tx), write: async (operation) => operation(tx) }
}

type SeedClock = { readonly read: () => number; readonly advance: (hours: number) => void }

/** A clock that starts thirty days ago and stands still during each operation, whose rows then have one time. */
function createSeedClock(now: number): SeedClock {
  let at = now - 30 * 24 * hourMs
  return {
    read: () => at,
    advance: (hours) => {
      at = Math.min(now, at + hours * hourMs)
    },
  }
}

const hourMs = 3_600_000

/** Spreads the history over the thirty days. */
const hoursBetweenOperations = 16

/** How long the bank of the demo takes. */
const hoursToSettle = 0.4

async function seedPrices(service: Service): Promise<void> {
  for (const rate of rates) await setRate(service, rate)
  for (const fee of fees) await setFee(service, fee)
}

async function seedHistory(context: Context, { advance }: SeedClock): Promise<void> {
  const customerIds = new Map<string, string>()
  const customerIdOf = (name: string | null) => (name === null ? null : customerIds.get(name))

  for (const { name, isClosed: _, ...customer } of customers) {
    advance(hoursBetweenOperations)
    customerIds.set(name, (await createCustomer(context, customer)).result.id)
  }
  for (const { owner, ...method } of bankMethods) {
    advance(hoursBetweenOperations)
    await createBankPayoutMethod(context, { type: 'BANK', ...method, customerId: customerIdOf(owner) })
  }
  for (const { owner, ...method } of walletMethods) {
    advance(hoursBetweenOperations)
    await createWalletPayoutMethod(context, { type: 'WALLET', ...method, customerId: customerIdOf(owner) })
  }
  for (const { owner, deposit, ...wallet } of wallets) {
    advance(hoursBetweenOperations)
    const { result } = await createWallet(context, { ...wallet, customerId: customerIdOf(owner) })
    const walletId = result.id
    if (!deposit) continue
    advance(hoursBetweenOperations)
    await depositToWallet(context, { walletId, amount: deposit, reference: `demo deposit ${walletId}` })
  }
  for (const { owner, path, ...payout } of payouts) {
    advance(hoursBetweenOperations)
    const { result } = await createPayout(context, { ...payout, customerId: customerIdOf(owner) })
    for (const { status, cause } of path) {
      advance(hoursToSettle)
      await settlePayout(context, { payoutId: result.id, status, cause })
    }
  }
  // Customers are closed last, because nothing can be created for a closed customer.
  for (const { name, isClosed } of customers) {
    advance(isClosed ? hoursBetweenOperations : 0)
    if (isClosed) await closeCustomer(context, { customerId: customerIdOf(name) ?? '' })
  }
}
