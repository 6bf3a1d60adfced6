import { noSecrets } from '../core/secrets/secrets.ts'
import type { Database } from '../database/database.ts'
import type { Tx } from '../database/query.ts'
import type { ApiKey } from '../modules/merchants/api-key.ts'
import { formatApiKey } from '../modules/merchants/api-key.ts'
import { createMerchant } from '../modules/merchants/create-merchant.ts'
import { allMerchants, apiKeyById } from '../modules/merchants/repository.ts'
import { setFee } from '../modules/pricing/fees.ts'
import { setRate } from '../modules/pricing/rates.ts'
import { webhookEndpoints } from '../modules/webhooks/endpoints/list.ts'
import { updateWebhookEndpoint } from '../modules/webhooks/endpoints/update-webhook-endpoint.ts'
import type { Service } from '../operations/context.ts'
import { createContext, createService } from '../operations/context.ts'
import { receiverPath } from '../server/rest/service-endpoints.ts'
import { fees, rates } from './demo-data.ts'
import { dayMs, historyDays } from './demo-history.ts'
import type { SeedStep } from './history-steps.ts'
import { historySteps } from './history-steps.ts'
import { webhookSteps } from './webhook-steps.ts'

/**
 * The demo's API key is the same in every sandbox, so that the documentation's examples work unchanged. Live mode
 * rejects this API key.
 */
export const demoKey: ApiKey = {
  mode: 'sandbox',
  id: 'de300000000000de',
  secret: 'de30'.repeat(12),
}
export const demoApiKey = formatApiKey(demoKey)

/**
 * Seeds an empty database with the demo merchant and ninety days of history.
 *
 * @returns whether the demo exists; the demo is not created if there are other merchants
 */
export async function seedDemo(service: Service): Promise<boolean> {
  let merchantId: string | null = null
  const hasDemo = await service.db.write(async (tx) => {
    merchantId = null
    if (await apiKeyById(tx, { id: demoKey.id })) return true
    if ((await allMerchants(tx, {})).length > 0) return false
    const clock = createSeedClock(service.now())
    const past = pastService(service, tx, clock)
    const merchant = await createMerchant(past, { name: 'Demo merchant' }, demoKey)
    await seedPrices(past)
    await runSteps(clock, historySteps(createContext(past, merchant.id), service.now()))
    merchantId = merchant.id
    return true
  })
  // Events get their numbers after COMMIT, so the webhooks are seeded in a second transaction. Webhook endpoints need
  // an encryption key for their secrets.
  if (merchantId !== null && service.secrets !== noSecrets) await seedWebhooks(service, merchantId)
  return hasDemo
}

async function seedWebhooks(service: Service, merchantId: string): Promise<void> {
  await service.db.write(async (tx) => {
    const clock = createSeedClock(service.now())
    const context = createContext(pastService(service, tx, clock), merchantId)
    await runSteps(clock, await webhookSteps(context, service.now()))
  })
}

/** The configured port may have changed since the demo stored the URLs of its webhook endpoints. */
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

function pastService(service: Service, tx: Tx, { read }: SeedClock): Service {
  return createService({ ...service, db: databaseWithin(service.db, tx), clock: read })
}

/** Runs transactions within `tx`, so that the demo is created once and atomically. */
function databaseWithin(db: Database, tx: Tx): Database {
  return { ...db, execute: tx.execute, snapshot: async (read) => read(tx), write: async (operation) => operation(tx) }
}

type SeedClock = { readonly read: () => number; readonly set: (time: number) => void }

/** The clock does not advance during an operation, so that all rows of an operation have the same time. */
function createSeedClock(now: number): SeedClock {
  let at = now - historyDays * dayMs
  return {
    read: () => at,
    set: (time) => {
      at = Math.min(now, time)
    },
  }
}

async function runSteps({ set }: SeedClock, steps: readonly SeedStep[]): Promise<void> {
  for (const { at, run } of steps.toSorted((one, other) => one.at - other.at)) {
    set(at)
    await run()
  }
}

async function seedPrices(service: Service): Promise<void> {
  for (const rate of rates) await setRate(service, rate)
  for (const fee of fees) await setFee(service, fee)
}
