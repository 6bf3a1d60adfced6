import type { ServerResponse } from 'node:http'
import { onTestFinished, vi } from 'vitest'
import { unavailable } from '../../../../../src/core/errors.ts'
import type { EventType } from '../../../../../src/database/tables.ts'
import { createCustomer } from '../../../../../src/modules/customers/create-customer.ts'
import { updateCustomer } from '../../../../../src/modules/customers/update-customer.ts'
import { recordEvent } from '../../../../../src/modules/outbox/record-event.ts'
import { eventsAfter } from '../../../../../src/modules/outbox/repository.ts'
import type { Dispatcher } from '../../../../../src/modules/webhooks/dispatcher/dispatcher.ts'
import { startDispatcher } from '../../../../../src/modules/webhooks/dispatcher/dispatcher.ts'
import type { Leases } from '../../../../../src/modules/webhooks/dispatcher/leases.ts'
import { noLeases } from '../../../../../src/modules/webhooks/dispatcher/leases.ts'
import { endpointsByIds } from '../../../../../src/modules/webhooks/dispatcher/repository.ts'
import type { Throttle } from '../../../../../src/modules/webhooks/dispatcher/throttle.ts'
import { createWebhookEndpoint } from '../../../../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { listWebhookDeliveries } from '../../../../../src/modules/webhooks/endpoints/list-webhook-deliveries.ts'
import { createSender } from '../../../../../src/modules/webhooks/transport/send.ts'
import type { Context, Mode, Perform, Service } from '../../../../../src/operations/context.ts'
import { createContext } from '../../../../../src/operations/context.ts'
import type { Engine } from '../../../../support/app.ts'
import { everyEngine, startApp } from '../../../../support/app.ts'
import { sampleCustomer } from '../../../../support/bodies.ts'
import { perform } from '../../../../support/perform.ts'
import { certificate } from '../../transport/support/certificate.ts'
import { fakeLookup, startReceiver } from '../../transport/support/receiver.ts'

export const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]

/** The parts of a received request that tests check. */
export type ReceivedWebhook = {
  readonly sequence: number
  readonly type: string
  readonly objectId: string
  readonly id: string
}

type Reply = (response: ServerResponse, got: ReceivedWebhook, count: number) => unknown

/** The default of a callback. */
export const unthrottled: Throttle = { waitMs: () => 0, recordStart: () => {} }

/** The options of a dispatcher that is one of several. */
type Sending = { readonly service?: Service; readonly leases?: Leases; readonly throttle?: Throttle }

/** The sandbox corrects wrong due times, because merchants move its clock; so each engine is also tested in live mode. */
export const everyWorld: readonly (readonly [engine: Engine, mode: Mode])[] = [
  ['sqlite', 'sandbox'],
  ...everyEngine.map((engine) => [engine, 'live'] as const),
]

const monotonicTime = performance.now.bind(performance)

/** Starts a service with fake clocks, a merchant and receivers; the test starts the dispatcher. */
export async function startWorld(engine: Engine, mode: Mode = 'live') {
  let time = Date.parse('2026-03-02T09:00:00.000Z')
  let elapsedMs = 0
  const app = await startApp(engine, { mode, clock: () => time })
  const faults: unknown[] = []
  const dispatchers: Dispatcher[] = []
  const receivers: Awaited<ReturnType<typeof startReceiver>>[] = []
  const failures: { isDown: boolean; tries: number }[] = []
  let changes = 0

  const monotonic = vi.spyOn(performance, 'now').mockImplementation(() => monotonicTime() + elapsedMs)
  onTestFinished(() => monotonic.mockRestore())

  /** Starts a dispatcher for the service or for another on the same database. */
  function dispatch({ service = app.service, leases = noLeases, throttle = unthrottled }: Sending = {}) {
    const sender = createSender(
      mode === 'sandbox'
        ? { mode, allowlistEntries: [] }
        : {
            mode,
            allowlistEntries: ['127.0.0.0/8'],
            lookUp: fakeLookup({ 'hooks.test': [['127.0.0.1']] }),
            ca: certificate,
          },
    )
    const onFault = (error: unknown) => faults.push(error)
    // It polls on the test's request instead of each second, unless the test brings its own timer.
    const hasFakeTimers = vi.isFakeTimers()
    if (!hasFakeTimers) vi.useFakeTimers({ toFake: ['setInterval'] })
    const started = startDispatcher({ service, sender, leases, throttle, onError: onFault, random: () => 0.5 })
    if (!hasFakeTimers) vi.useRealTimers()
    let stopping: Promise<void> | undefined
    const stop = () => {
      stopping ??= started.stop()
      return stopping
    }
    const dispatcher = { ...started, stop }
    dispatchers.push(dispatcher)
    onTestFinished(async () => {
      const stopped = stop()
      // The stop would wait for attempts that a receiver holds.
      for (const { breakOff } of receivers) breakOff()
      for (const state of failures) state.isDown = false
      if (vi.isFakeTimers()) await vi.advanceTimersByTimeAsync(5 * second)
      await stopped
    })
    return dispatcher
  }

  /** Waits until a condition holds, while all dispatchers poll. */
  function until(isSo: () => unknown, what = String(isSo)): Promise<void> {
    return waitUntil(isSo, what, async () => {
      for (const dispatcher of dispatchers) await dispatcher.poll().catch((error) => faults.push(error))
    })
  }

  async function waitUntil(isSo: () => unknown, what: string, look: () => unknown): Promise<void> {
    const begunAt = monotonicTime()
    // A poll takes longer on a busy machine.
    for (let looks = 0; !(await isSo()); looks++) {
      if (looks > 1_000 && monotonicTime() - begunAt > 5_000) throw new Error(`not so in time: ${what}`)
      await look()
      if (vi.isFakeTimers()) await vi.advanceTimersByTimeAsync(50)
      else await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  /** Starts a receiver that responds by `reply` and records its requests. */
  async function receiver(reply: Reply = (response) => response.end()) {
    const got: ReceivedWebhook[] = []
    const started = await startReceiver(
      (response, { body }) => {
        const { sequence, type, object, id } = JSON.parse(body)
        const one = { sequence, type, objectId: object.id, id }
        got.push(one)
        return reply(response, one, got.length)
      },
      { isSecure: mode === 'live' },
    )
    receivers.push(started)
    const { url, received } = started
    const sequences = () => got.map(({ sequence }) => sequence)
    return { url: url.replace('https://127.0.0.1', 'https://hooks.test'), got, received, sequences }
  }

  /** Creates an endpoint of a merchant and returns its id. */
  async function endpoint(url: string, options: object = {}, context: Context = app.context()): Promise<string> {
    return (await perform(createWebhookEndpoint, context, { url, ...options })).id
  }

  const contextOf = (merchantId: string) => createContext(app.service, merchantId)

  /** Creates `count` customers concurrently, each with an event. */
  async function customers(count: number, context: Context = app.context()): Promise<string[]> {
    const created = Array.from({ length: count }, () => perform(createCustomer, context, sampleCustomer))
    return (await Promise.all(created)).map(({ id }) => id)
  }

  return {
    app,
    faults,
    dispatch,
    until,
    /** Waits until a condition holds without polling on request. */
    onItsOwn: (isSo: () => unknown, what = String(isSo)) => waitUntil(isSo, what, () => {}),
    /** Returns a service that cannot record attempts while `isDown`, and the number of tries. */
    failing: () => {
      const state = { isDown: true, tries: 0 }
      failures.push(state)
      const performs: Perform = (operation, context, input) => {
        const { name } = operation.declaration
        if (name === 'recordAttempts') state.tries++
        return state.isDown && name === 'recordAttempts' ? Promise.reject(unavailable()) : operation(context, input)
      }
      return { state, service: { ...app.service, perform: performs } }
    },
    receiver,
    endpoint,
    contextOf,
    customers,
    /** Returns a URL without a listener. */
    nowhere: mode === 'live' ? 'https://hooks.test:1/' : 'http://127.0.0.1:1/',
    /** Advances the wall clock. */
    pass: (milliseconds: number) => {
      time += milliseconds
    },
    /** Advances the monotonic clock. */
    elapse: (milliseconds: number) => {
      elapsedMs += milliseconds
    },
    /** Creates other merchants, each with that many endpoints at a URL, and returns their contexts. */
    merchants: (count: number, { url, endpoints }: { url: string; endpoints: number }) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const context = contextOf((await app.otherMerchant()).id)
          await Promise.all(Array.from({ length: endpoints }, () => endpoint(url, {}, context)))
          return context
        }),
      ),
    async stored(id: string, merchantId = app.merchant.id) {
      const [row] = await endpointsByIds(app.db, { merchantId, ids: [id] })
      if (row === undefined) throw new Error('there is no such endpoint')
      return row
    },
    /** Returns the outcome of each event by its sequence. */
    async deliveries(webhookId: string) {
      const { items } = await listWebhookDeliveries(app.context(), { webhookId, limit: 100 })
      return new Map(items.map((each) => [each.sequence, each]))
    },
    events: () => eventsAfter(app.db, { merchantId: app.merchant.id, after: 0, limit: 10_000 }),
    /** Records one more event of a customer. */
    async change(customerId: string): Promise<void> {
      await perform(updateCustomer, app.context(), { customerId, firstName: `Ada ${changes++}` })
    },
    /** Records many events of a customer in one transaction. */
    async changes(count: number, objectId: string, type: EventType = 'customer.updated'): Promise<void> {
      const [event] = await eventsAfter(app.db, { merchantId: app.merchant.id, after: 0, limit: 1 })
      const happening = { type, objectId, at: new Date(time).toISOString(), data: event?.data ?? {} }
      await app.db.write(
        async (tx) => {
          for (let index = 0; index < count; index++) await recordEvent(tx, app.context(), happening)
        },
        { merchantId: app.merchant.id },
      )
    },
  }
}

/** Replaces timers by ones that advance only while a test waits, and then fast. */
export function useFakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Responds with a status and an empty body. */
export function replyWithStatus(status: number): Reply {
  return (response) => {
    response.statusCode = status
    response.end()
  }
}
