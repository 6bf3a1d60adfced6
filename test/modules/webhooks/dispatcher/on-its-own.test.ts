import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { rotateWebhookSecret } from '../../../../src/modules/webhooks/endpoints/rotate-webhook-secret.ts'
import type { Service } from '../../../../src/operations/context.ts'
import { perform } from '../../../support/perform.ts'
import { everyWorld, hour, minute, replyWithStatus, second, startWorld } from './support/world.ts'

describe.each(everyWorld)('a webhook dispatcher on %s in %s', (engine, mode) => {
  test('skips a batch of events that all wait for an earlier event of the same object, and reads later events', async () => {
    const { app, dispatch, endpoint, onItsOwn, changes, receiver } = await startWorld(engine, mode)
    const slow = await app.customer()
    const { url, got } = await receiver((response, { objectId }) => {
      if (objectId !== slow) response.end()
    })
    await endpoint(url)
    // One read of the feed returns fewer events.
    await changes(100, slow)
    const quick = await app.customer()
    // The dispatcher notices that all events wait when no read is pending.
    let [begun, waits] = [0, 0]
    const waitMs = () => {
      if (waits === begun) return 0
      waits++
      return 50
    }
    const count = () => {
      begun++
    }
    dispatch({ throttle: { waitMs, recordStart: count } })
    await onItsOwn(() => got.some(({ objectId }) => objectId === quick))
    expect(got.length).toBe(2)
  })

  test('reads due events again after it dropped them from memory because later events of their objects arrived', async () => {
    const { app, dispatch, endpoint, until, onItsOwn, pass, deliveries, change, customers, receiver } =
      await startWorld(engine, mode)
    const held = Promise.withResolvers<void>()
    const failing = new Set<string>()
    const { url, got } = await receiver(async (response, { objectId }, count) => {
      if (count <= 6) failing.add(objectId)
      else if (!failing.has(objectId)) await held.promise
      response.statusCode = count <= 6 ? 500 : 200
      response.end()
    })
    let reads = 0
    const execute: Service['db']['execute'] = async (query, params) => {
      const rows = await app.db.execute(query, params)
      if ('now' in params && 'limit' in params) reads++
      return rows as never
    }
    const id = await endpoint(url)
    const dispatcher = dispatch({ service: { ...app.service, db: { ...app.db, execute } } })
    const created = await customers(6)
    await until(async () => (await deliveries(id)).size === 6)
    // Two hanging attempts use all slots of an endpoint that has never responded.
    await customers(2)
    await until(() => got.length === 8)
    const before = reads
    pass(6 * second)
    await dispatcher.poll()
    await onItsOwn(() => reads > before)
    await delay(20)
    for (const customer of created) await change(customer)
    await delay(50)
    expect(got.length).toBe(8)
    held.resolve()
    await onItsOwn(() => got.length === 8 + 12)
    for (const customer of created) {
      const own = got.filter(({ objectId }) => objectId === customer).map(({ sequence }) => sequence)
      expect(own).toEqual([own[0], own[0], own[2]])
    }
  })

  // More due events than a batch of 16, and more than a read of 32.
  test.each([25, 60])('retries all of %i due events', async (count) => {
    const { dispatch, endpoint, until, onItsOwn, stored, pass, deliveries, customers, receiver } = await startWorld(
      engine,
      mode,
    )
    const tries = new Map<number, number>()
    // Some are delivered, so the endpoint gets four concurrent attempts.
    const { url } = await receiver((response, { sequence }) => {
      tries.set(sequence, (tries.get(sequence) ?? 0) + 1)
      response.statusCode = tries.get(sequence) === 1 && sequence % 5 > 0 ? 500 : 200
      response.end()
    })
    const id = await endpoint(url)
    const dispatcher = dispatch()
    await customers(count)
    await until(async () => (await stored(id)).cursor === count)
    pass(6 * second)
    await dispatcher.poll()
    await onItsOwn(() => [...tries.values()].reduce((one, other) => one + other) === (count * 9) / 5)
    await onItsOwn(async () => [...(await deliveries(id)).values()].every(({ status }) => status === 'delivered'))
  })

  test('stores the cursor after skipped events every five seconds, and when the dispatcher stops', async () => {
    const { app, dispatch, endpoint, until, onItsOwn, stored, changes, elapse, nowhere } = await startWorld(
      engine,
      mode,
    )
    const id = await endpoint(nowhere, { types: ['wallet.created'] })
    const customer = await app.customer()
    elapse(minute)
    let latest = 0
    const execute: Service['db']['execute'] = async (query, params) => {
      const rows = await app.db.execute(query, params)
      if ('limit' in params && 'after' in params && typeof params.after === 'number')
        latest = params.after + rows.length
      return rows as never
    }
    const dispatcher = dispatch({ service: { ...app.service, db: { ...app.db, execute } } })
    await until(async () => (await stored(id)).cursor === 1)
    await changes(2, customer)
    await onItsOwn(() => latest === 3)
    elapse(4 * second)
    for (let looks = 0; looks < 3; looks++) await dispatcher.poll()
    await delay(20)
    expect((await stored(id)).cursor).toBe(1)
    elapse(second)
    await until(async () => (await stored(id)).cursor === 3)
    await changes(2, customer)
    await onItsOwn(() => latest === 5)
    await delay(20)
    await dispatcher.stop()
    expect((await stored(id)).cursor).toBe(5)
  })

  test('stores the cursor together with the outcome of an event, and not while the event is pending', async () => {
    const { app, dispatch, endpoint, until, stored, change, elapse, failing, receiver } = await startWorld(engine, mode)
    const response = Promise.withResolvers<void>()
    const { url, got } = await receiver(async (reply) => {
      await response.promise
      reply.end()
    })
    const id = await endpoint(url, { types: ['customer.updated'] })
    // The cursor could pass the first event, to which the endpoint does not subscribe.
    await change(await app.customer())
    elapse(minute)
    const { state, service } = failing()
    state.isDown = false
    const dispatcher = dispatch({ service })
    await until(() => got.length === 1)
    elapse(minute)
    for (let polls = 0; polls < 3; polls++) await dispatcher.poll()
    await delay(20)
    expect([state.tries, (await stored(id)).cursor]).toEqual([0, 0])
    response.resolve()
    await until(async () => (await stored(id)).cursor === 2)
    expect(state.tries).toBe(1)
  })

  test('polls every second for new endpoints', async () => {
    const { app, dispatch, endpoint, onItsOwn, receiver } = await startWorld(engine, mode)
    const { url, got } = await receiver()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const dispatcher = dispatch()
    await dispatcher.poll()
    await endpoint(url)
    await app.customer()
    await vi.advanceTimersByTimeAsync(second - 1)
    await delay(20)
    expect(got).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    vi.useRealTimers()
    await onItsOwn(() => got.length === 1)
  })

  test('signs with a replaced secret for at most a minute after its expiry', async () => {
    const { app, dispatch, endpoint, until, pass, elapse, receiver } = await startWorld(engine, mode)
    const { url, received } = await receiver()
    const webhookId = await endpoint(url)
    await perform(rotateWebhookSecret, app.context(), { webhookId, overlapHours: 1 })
    dispatch()
    const signatures = async () => {
      const before = received.length
      await app.customer()
      await until(() => received.length > before)
      return String(received.at(-1)?.headers['webhook-signature']).split(' ').length
    }
    expect(await signatures()).toBe(2)
    pass(hour)
    elapse(minute + 1)
    await app.customer()
    await until(() => received.length === 2)
    expect(await signatures()).toBe(1)
  })

  test('sends nothing after it has stopped', async () => {
    const { app, dispatch, endpoint, until, receiver } = await startWorld(engine, mode)
    const { url, got } = await receiver(replyWithStatus(200))
    await endpoint(url)
    const dispatcher = dispatch()
    await app.customer()
    await until(() => got.length === 1)
    await dispatcher.stop()
    await endpoint(url)
    await app.customer()
    await dispatcher.poll()
    await delay(50)
    expect(got.length).toBe(1)
  })
})
