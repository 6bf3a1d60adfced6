import { openDatabase } from '../../src/app/open-database.ts'
import { createSecrets } from '../../src/core/secrets/secrets.ts'
import { createCustomer } from '../../src/modules/customers/create-customer.ts'
import { authenticate } from '../../src/modules/merchants/authenticate.ts'
import { createMerchant } from '../../src/modules/merchants/create-merchant.ts'
import { createWebhookEndpoint } from '../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { disableWebhookEndpoint } from '../../src/modules/webhooks/endpoints/disable-webhook-endpoint.ts'
import type { Service } from '../../src/operations/context.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import { sampleCustomer } from '../support/bodies.ts'
import { perform } from '../support/perform.ts'
import { connections, send } from './clients.ts'
import { fillDatabase } from './server.ts'

/** Encrypts the endpoints' secrets: the `SECRETS_KEY` of the sending service. */
export const backlogKey = Buffer.alloc(32, 5)

export type Endpoint = { readonly id: string; readonly apiKey: string }

type Backlog = {
  readonly port: number
  readonly merchants: number
  readonly endpoints: number
  readonly events: number
}

/** Merchants with a number of disabled endpoints that have missed a number of events; the first one can pay. */
export async function makeBacklog(
  place: string,
  { merchants, ...missed }: Backlog,
): Promise<{ payerKey: string; endpoints: Endpoint[] }> {
  const { url, apiKey: payerKey } = await fillDatabase(place)
  const db = await openDatabase({ url, onFatal: () => {} })
  const service = createService({ db, mode: 'sandbox', secrets: createSecrets([backlogKey]) })
  const { merchantId } = await authenticate(service, payerKey)
  const endpoints = await missEvents(service, { id: merchantId, apiKey: payerKey }, missed)
  for (let i = 1; i < merchants; i++) {
    const merchant = await createMerchant(service, { name: `Merchant ${i}` })
    endpoints.push(...(await missEvents(service, merchant, missed)))
  }
  await db.close()
  return { payerKey, endpoints }
}

async function missEvents(
  service: Service,
  { id: merchantId, apiKey }: { id: string; apiKey: string },
  { port, endpoints: count, events }: Omit<Backlog, 'merchants'>,
): Promise<Endpoint[]> {
  const context = createContext(service, merchantId)
  const endpoints: Endpoint[] = []
  for (let place = 0; place < count; place++) {
    const url = `http://127.0.0.1:${port}/${merchantId}/${place}`
    const { id } = await perform(createWebhookEndpoint, context, { url, types: ['customer.created'] })
    await perform(disableWebhookEndpoint, context, { webhookId: id })
    endpoints.push({ id, apiKey })
  }
  for (let i = 0; i < events; i++) await perform(createCustomer, context, sampleCustomer)
  return endpoints
}

/** Enables all endpoints, which then receive the events that they missed, or disables them. */
export async function switchAll(port: number, endpoints: readonly Endpoint[], isEnabled: boolean): Promise<void> {
  const agent = connections(8)
  const ask = async ({ id, apiKey }: Endpoint) => {
    const path = `/api/webhooks/${id}/${isEnabled ? 'enable' : 'disable'}`
    const { status, text } = await send({ port, apiKey }, agent, { path, body: {} })
    if (status !== 200) throw new Error(`${path} responded with ${status}: ${text}`)
  }
  await Promise.all(endpoints.map(ask))
  agent.destroy()
}
