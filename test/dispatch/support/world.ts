import type { ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import type { Context, Service } from '../../../src/context.ts'
import { createContext } from '../../../src/context.ts'
import { updateCustomer } from '../../../src/customers/update-customer.ts'
import { createSender } from '../../../src/delivery/send.ts'
import type { Dispatcher } from '../../../src/dispatch/dispatcher.ts'
import { startDispatcher } from '../../../src/dispatch/dispatcher.ts'
import type { Leases } from '../../../src/dispatch/leases.ts'
import { noLeases } from '../../../src/dispatch/leases.ts'
import { endpointsByIds } from '../../../src/dispatch/repository.ts'
import type { Throttle } from '../../../src/dispatch/throttle.ts'
import { eventsAfter } from '../../../src/events/repository.ts'
import { createWebhookEndpoint } from '../../../src/webhooks/create-webhook-endpoint.ts'
import { listWebhookDeliveries } from '../../../src/webhooks/list-webhook-deliveries.ts'
import { startReceiver } from '../../delivery/support/receiver.ts'
import type { Engine } from '../../support/app.ts'
import { startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'

export const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]

/** What a receiver got, as far as tests ask. */
export type Got = { readonly sequence: number; readonly type: string; readonly objectId: string; readonly id: string }

type Reply = (response: ServerResponse, got: Got, count: number) => unknown

/** Where nothing else has to be done. */
export const unthrottled: Throttle = { waitMs: () => 0, count: () => {} }

/** What sends with, where it is not the only one and has nothing else to do. */
type Sending = { readonly service?: Service; readonly leases?: Leases; readonly throttle?: Throttle }

/** A service with a clock of the test's own, a merchant, and receivers; what sends is started by the test. */
export async function startWorld(engine: Engine) {
  let time = Date.parse('2026-03-02T09:00:00.000Z')
  const app = await startApp(engine, { clock: () => time })
  const faults: unknown[] = []
  const dispatchers: Dispatcher[] = []
  let changes = 0

  /** Starts what sends, for the service or for another on the same database. */
  function dispatch({ service = app.service, leases = noLeases, throttle = unthrottled }: Sending = {}) {
    const sender = createSender({ mode: 'sandbox', allowed: [] })
    const onFault = (error: unknown) => faults.push(error)
    const dispatcher = startDispatcher({ service, sender, leases, throttle, onFault, random: () => 0.5 })
    dispatchers.push(dispatcher)
    onTestFinished(() => dispatcher.stop())
    return dispatcher
  }

  /** Waits until something is so, and has all look meanwhile. */
  async function until(isSo: () => unknown, what = String(isSo)): Promise<void> {
    const giveUpAt = performance.now() + 60_000
    while (!(await isSo())) {
      if (performance.now() > giveUpAt) throw new Error(`not so in time: ${what}`)
      for (const dispatcher of dispatchers) await dispatcher.look().catch((error) => faults.push(error))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  return {
    app,
    faults,
    dispatch,
    until,
    pass: (milliseconds: number) => {
      time += milliseconds
    },
    /** An endpoint of a merchant at a URL; its id. */
    async endpoint(url: string, options: object = {}, context: Context = app.context()): Promise<string> {
      return (await perform(createWebhookEndpoint, context, { url, ...options })).id
    },
    contextOf: (merchantId: string) => createContext(app.service, merchantId),
    async stored(id: string, merchantId = app.merchant.id) {
      const [row] = await endpointsByIds(app.db, { merchantId, ids: [id] })
      if (row === undefined) throw new Error('there is no such endpoint')
      return row
    },
    /** What became of each event, by its sequence. */
    async deliveries(webhookId: string) {
      const { items } = await listWebhookDeliveries(app.context(), { webhookId, limit: 100 })
      return new Map(items.map((each) => [each.sequence, each]))
    },
    events: () => eventsAfter(app.db, { merchantId: app.merchant.id, after: 0, limit: 10_000 }),
    /** Makes one more event of a customer. */
    async change(customerId: string): Promise<void> {
      await perform(updateCustomer, app.context(), { customerId, firstName: `Ada ${changes++}` })
    },
  }
}

/** A receiver that answers what `reply` says, and lists what it got. */
export async function receiver(reply: Reply = (response) => response.end()) {
  const got: Got[] = []
  const { url, received } = await startReceiver((response, { body }) => {
    const { sequence, type, object, id } = JSON.parse(body)
    const one = { sequence, type, objectId: object.id, id }
    got.push(one)
    return reply(response, one, got.length)
  })
  return { url, got, received, sequences: () => got.map(({ sequence }) => sequence) }
}

/** Answers with a status and nothing else. */
export function answering(status: number): Reply {
  return (response) => {
    response.statusCode = status
    response.end()
  }
}
