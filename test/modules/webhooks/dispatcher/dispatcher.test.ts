import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import type { Leases } from '../../../../src/modules/webhooks/dispatcher/leases.ts'
import { deleteWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/delete-webhook-endpoint.ts'
import { disableWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/disable-webhook-endpoint.ts'
import { replayWebhookEvents } from '../../../../src/modules/webhooks/endpoints/replay-webhook-events.ts'
import { storeWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/repository.ts'
import type { Service } from '../../../../src/operations/context.ts'
import { everyEngine } from '../../../support/app.ts'
import { perform } from '../../../support/perform.ts'
import { minute, startWorld } from './support/world.ts'

/** Returns the service with a function that runs after each query, before the dispatcher gets the rows. */
function afterQueries(service: Service, call: (params: object) => unknown): Service {
  const execute: Service['db']['execute'] = async (query, params) => {
    const rows = await service.db.execute(query, params)
    await call(params)
    return rows as never
  }
  return { ...service, db: { ...service.db, execute } }
}

/** Leases every merchant, and records the requests. */
function observeLeases() {
  const requests: (readonly string[])[] = []
  const gate = { opens: Promise.resolve() }
  const leases: Leases = {
    acquire: async (merchantIds) => {
      requests.push(merchantIds)
      await gate.opens
      return new Set(merchantIds)
    },
    release: async () => {},
  }
  return { requests, gate, leases }
}

describe.each(everyEngine)('the webhook dispatcher on %s', (engine) => {
  test('runs no query for an idle endpoint, except that it reads the active endpoints on PostgreSQL', async () => {
    const { app, dispatch, endpoint, until, stored, receiver } = await startWorld(engine)
    const id = await endpoint((await receiver()).url)
    await app.customer()
    let queries = 0
    const service = afterQueries(app.service, (params) => {
      if (!('merchantIds' in params)) queries++
    })
    const dispatcher = dispatch({ service })
    await until(async () => (await stored(id)).cursor === 1)
    for (let polls = 0; polls < 5; polls++) await dispatcher.poll()
    await delay(20)
    queries = 0
    await dispatcher.poll()
    await delay(20)
    expect(queries).toBe(engine === 'sqlite' ? 0 : 1)
  })

  test('sends to the first merchant before it has read the endpoints of the other merchants', async () => {
    const { app, dispatch, onItsOwn, merchants, customers, receiver } = await startWorld(engine)
    const { url, got } = await receiver()
    for (const context of await merchants(2, { url, endpoints: 1 })) await customers(1, context)
    const held = Promise.withResolvers<void>()
    let endpointReads = 0
    const service = afterQueries(app.service, (params) => {
      if ('ids' in params && ++endpointReads === 2) return held.promise
    })
    dispatch({ service })
    await onItsOwn(() => got.length === 1)
    held.resolve()
    await onItsOwn(() => got.length === 2)
  })

  test('sends nothing to an endpoint that is disabled while its worker starts', async () => {
    const { app, dispatch, endpoint, receiver } = await startWorld(engine)
    const { url, got } = await receiver()
    const webhookId = await endpoint(url)
    await app.customer()
    let isDisabled = false
    const service = afterQueries(app.service, async (params) => {
      if (isDisabled || Object.keys(params).length > 0) return
      isDisabled = true
      await perform(disableWebhookEndpoint, app.context(), { webhookId })
    })
    const dispatcher = dispatch({ service })
    await dispatcher.poll()
    await delay(50)
    expect([isDisabled, got.length]).toEqual([true, 0])
  })

  test('acquires no lease for a merchant whose only endpoint is disabled until its next probe', async () => {
    const { app, dispatch, endpoint, stored, pass, nowhere } = await startWorld(engine)
    const { merchantId } = app.context()
    const row = await stored(await endpoint(nowhere))
    const probeAt = new Date(app.service.now() + minute).toISOString()
    const disabled = { status: 'disabled', disabledReason: 'failing', probeAt } as const
    await app.db.write((tx) => storeWebhookEndpoint(tx, { ...row, ...disabled }), { merchantId })
    const { requests, leases } = observeLeases()
    const dispatcher = dispatch({ leases })
    pass(minute - 1)
    await dispatcher.poll()
    expect(requests.at(-1)).toEqual([])
    pass(1)
    await dispatcher.poll()
    expect(requests.at(-1)).toEqual([merchantId])
  })

  test('no longer watches the events of a merchant whose last endpoint was deleted', async () => {
    const { app, dispatch, endpoint, until, merchants, customers, receiver } = await startWorld(engine)
    const { url, got } = await receiver()
    const webhookId = await endpoint(url)
    const [other] = await merchants(1, { url, endpoints: 1 })
    let watched: unknown
    const service = afterQueries(app.service, (params) => {
      if ('merchantIds' in params) watched = params.merchantIds
    })
    dispatch({ service })
    await customers(1)
    await customers(1, other)
    await until(() => got.length === 2)
    await perform(deleteWebhookEndpoint, app.context(), { webhookId })
    await until(async () => {
      await customers(1, other)
      return JSON.stringify(watched) === JSON.stringify([other?.merchantId])
    })
  })

  test('sends events again without another poll if the merchant requests a resend during an attempt', async () => {
    const { app, dispatch, endpoint, until, onItsOwn, stored, receiver } = await startWorld(engine)
    const held = Promise.withResolvers<void>()
    const { url, sequences } = await receiver(async (response, { sequence }) => {
      if (sequence === 2) await held.promise
      response.end()
    })
    const webhookId = await endpoint(url)
    dispatch()
    await app.customer()
    await until(async () => (await stored(webhookId)).cursor === 1)
    await app.customer()
    await until(() => sequences().length === 2)
    await perform(replayWebhookEvents, app.context(), { webhookId, after: 0 })
    held.resolve()
    await onItsOwn(() => sequences().length === 4)
    expect(sequences().slice(2).sort()).toEqual([1, 2])
  })
})

describe.each(everyEngine)('a stopping webhook dispatcher on %s', (engine) => {
  test('no longer polls, watches events or acquires leases', async () => {
    const { app, dispatch, endpoint, until, receiver } = await startWorld(engine)
    const { url, got } = await receiver()
    await endpoint(url)
    await app.customer()
    const { requests, leases } = observeLeases()
    let queries = 0
    const service = afterQueries(app.service, () => queries++)
    const dispatcher = dispatch({ service, leases })
    await until(() => got.length === 1)
    await dispatcher.stop()
    await delay(300)
    const before = [requests.length, queries]
    await app.customer()
    await dispatcher.poll()
    await delay(50)
    expect([requests.length, queries]).toEqual(before)
  })

  test('stops its timer', async () => {
    const { dispatch } = await startWorld(engine)
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const dispatcher = dispatch()
    const timers = vi.getTimerCount()
    await dispatcher.stop()
    const left = vi.getTimerCount()
    vi.useRealTimers()
    expect(left).toBe(timers - 1)
  })

  test('starts no attempt, even if a poll takes long', async () => {
    const { app, dispatch, endpoint, until, receiver } = await startWorld(engine)
    const { url, got } = await receiver()
    await endpoint(url)
    const { requests, gate, leases } = observeLeases()
    const dispatcher = dispatch({ leases })
    await app.customer()
    await until(() => got.length === 1)
    const { promise, resolve: release } = Promise.withResolvers<void>()
    gate.opens = promise
    const { length } = requests
    const polled = dispatcher.poll()
    await expect.poll(() => requests.length).toBe(length + 1)
    const stopped = dispatcher.stop()
    await app.customer()
    await delay(50)
    release()
    await Promise.all([polled, stopped])
    expect(got.length).toBe(1)
  })

  test('starts no further endpoint workers', async () => {
    const { app, dispatch, merchants, nowhere } = await startWorld(engine)
    await merchants(2, { url: nowhere, endpoints: 1 })
    let endpointReads = 0
    const service = afterQueries(app.service, (params) => {
      if ('ids' in params && ++endpointReads === 1) dispatcher.stop()
    })
    const dispatcher = dispatch({ service })
    await dispatcher.poll()
    expect(endpointReads).toBe(1)
  })

  test('waits for the outcome of an attempt to an endpoint that was disabled during the attempt', async () => {
    const { app, dispatch, endpoint, until, deliveries, receiver } = await startWorld(engine)
    const held = Promise.withResolvers<void>()
    const { url, got } = await receiver(async (response) => {
      await held.promise
      response.end()
    })
    const webhookId = await endpoint(url)
    const dispatcher = dispatch()
    await app.customer()
    await until(() => got.length === 1)
    await perform(disableWebhookEndpoint, app.context(), { webhookId })
    for (let polls = 0; polls < 2; polls++) await dispatcher.poll()
    const stopped = dispatcher.stop()
    await delay(20)
    held.resolve()
    await stopped
    expect((await deliveries(webhookId)).get(1)?.status).toBe('delivered')
  })
})
