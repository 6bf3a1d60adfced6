import { openDatabase } from '../../src/app/open-database.ts'
import { createSecrets } from '../../src/core/secrets/secrets.ts'
import { createCustomer } from '../../src/modules/customers/create-customer.ts'
import { updateCustomer } from '../../src/modules/customers/update-customer.ts'
import { createMerchant } from '../../src/modules/merchants/create-merchant.ts'
import type { Event } from '../../src/modules/outbox/event.ts'
import { eventId } from '../../src/modules/outbox/event.ts'
import { eventsAfter, latestEventSequences } from '../../src/modules/outbox/repository.ts'
import { startDispatcher } from '../../src/modules/webhooks/dispatcher/dispatcher.ts'
import { noLeases } from '../../src/modules/webhooks/dispatcher/leases.ts'
import { endpointsByIds } from '../../src/modules/webhooks/dispatcher/repository.ts'
import { createWebhookEndpoint } from '../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import type { WebhookDelivery } from '../../src/modules/webhooks/endpoints/list-webhook-deliveries.ts'
import { listWebhookDeliveries } from '../../src/modules/webhooks/endpoints/list-webhook-deliveries.ts'
import { replayWebhookEvents } from '../../src/modules/webhooks/endpoints/replay-webhook-events.ts'
import { createSender } from '../../src/modules/webhooks/transport/send.ts'
import type { Context } from '../../src/operations/context.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import { sampleCustomer } from '../support/bodies.ts'
import { perform } from '../support/perform.ts'
import type { AdverseReceivers, Kind } from './adverse-receivers.ts'

/** An endpoint, with the path of its receiver. */
export type Endpoint = { readonly id: string; readonly path: string }

/** A merchant whose receivers are of one kind, and whose customers change in rotation. */
export type Merchant = {
  readonly kind: Kind
  readonly context: Context
  readonly customers: readonly string[]
  readonly endpoints: readonly Endpoint[]
}

export type AdverseWorld = {
  /** Advances simulated time. */
  readonly pass: (milliseconds: number) => void
  readonly look: () => Promise<void>
  /** Makes polls that find nothing cost no database query. */
  readonly ping: () => Promise<unknown>
  readonly merchant: (kind: Kind, endpoints: number) => Promise<Merchant>
  /** Changes a customer of a merchant and returns the event's sequence number. */
  readonly happen: (merchant: Merchant) => Promise<number>
  readonly eventsOf: (merchant: Merchant) => Promise<Event[]>
  readonly deliveriesOf: (merchant: Merchant, endpoint: Endpoint) => Promise<readonly WebhookDelivery[]>
  /** Whether all events up to this number were tried. */
  readonly cursorOf: (merchant: Merchant, endpoint: Endpoint) => Promise<number>
  readonly replay: (merchant: Merchant, endpoint: Endpoint, event: Event) => Promise<unknown>
  readonly faults: unknown[]
  readonly end: () => Promise<void>
}

const customersOfMerchant = 4

/** The service at `url` with a simulated clock, sending to these receivers, without fair scheduling against payouts. */
export async function startAdverseWorld(
  url: string,
  { lookUp, urlOf }: AdverseReceivers,
  random: () => number,
): Promise<AdverseWorld> {
  const begunAt = Date.now()
  let [passed, changes, merchants] = [0, 0, 0]
  const faults: unknown[] = []
  const onFault = (error: unknown) => faults.push(error)
  const db = await openDatabase({ url, onFatal: onFault })
  const secrets = createSecrets([Buffer.alloc(32, 5)])
  const service = createService({ db, mode: 'sandbox', secrets, clock: () => begunAt + passed })
  const sender = createSender({ mode: 'sandbox', allowlistEntries: [], lookUp })
  const throttle = { waitMs: () => 0, recordStart: () => {} }
  const dispatcher = startDispatcher({ service, sender, leases: noLeases, throttle, onError: onFault, random })

  return {
    pass: (milliseconds) => {
      passed += milliseconds
    },
    look: dispatcher.poll,
    ping: db.ping,
    merchant: async (kind, count) => {
      const { id } = await createMerchant(service, { name: kind })
      const context = createContext(service, id)
      const customers: string[] = []
      for (let i = 0; i < customersOfMerchant; i++) {
        customers.push((await perform(createCustomer, context, sampleCustomer)).id)
      }
      const endpoints: Endpoint[] = []
      for (let place = 0; place < count; place++) {
        const path = `${merchants++}/${place}`
        const created = await perform(createWebhookEndpoint, context, { url: urlOf(kind, path) })
        endpoints.push({ id: created.id, path: `/${kind}/${path}` })
      }
      return { kind, context, customers, endpoints }
    },
    happen: async ({ context, customers }) => {
      const customerId = customers[changes % customers.length] as string
      await perform(updateCustomer, context, { customerId, firstName: `Ada ${changes++}` })
      const [found] = await latestEventSequences(db, { merchantIds: [context.merchantId] })
      return found?.latest ?? 0
    },
    eventsOf: async ({ context: { merchantId } }) =>
      eventsAfter(db, { merchantId, after: customersOfMerchant, limit: 10_000 }),
    deliveriesOf: async ({ context }, { id }) =>
      (await listWebhookDeliveries(context, { webhookId: id, limit: 100 })).items,
    cursorOf: async ({ context: { merchantId } }, { id }) => {
      const [row] = await endpointsByIds(db, { merchantId, ids: [id] })
      if (row === undefined) throw new Error('unknown endpoint')
      return row.cursor
    },
    replay: ({ context }, { id }, event) =>
      perform(replayWebhookEvents, context, { webhookId: id, eventId: eventId(event) }),
    faults,
    end: async () => {
      await dispatcher.stop()
      await db.close()
    },
  }
}
