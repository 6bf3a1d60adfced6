import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { eventId } from '../../../../src/modules/outbox/event.ts'
import { enableWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/enable-webhook-endpoint.ts'
import { replayWebhookEvents } from '../../../../src/modules/webhooks/endpoints/replay-webhook-events.ts'
import { testWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/test-webhook-endpoint.ts'
import { attemptDelaysMs } from '../../../../src/modules/webhooks/transport/retry-schedule.ts'
import { perform } from '../../../support/perform.ts'
import { day, everyWorld, hour, second, startWorld } from './support/world.ts'

describe.each(everyWorld)('the sequence of deliveries on %s in %s', (engine, mode) => {
  test('contains every event once, and the delivery log lists every event', async () => {
    const { dispatch, endpoint, until, stored, deliveries, customers, receiver } = await startWorld(engine, mode)
    const { url, sequences } = await receiver()
    const id = await endpoint(url)
    await customers(100)
    dispatch()
    await until(() => sequences().length === 100)
    await until(async () => (await stored(id)).cursor === 100)
    expect(sequences().sort((one, other) => one - other)).toEqual(Array.from({ length: 100 }, (_, place) => place + 1))
    const log = await deliveries(id)
    expect([...log.values()].every(({ status, attempts }) => status === 'delivered' && attempts === 1)).toBe(true)
    expect([...log.values()].every(({ log }) => log.length === 1 && log[0]?.status === 200)).toBe(true)
  })

  test('is in order for each object, and objects do not wait for each other', async () => {
    const { app, dispatch, endpoint, until, pass, change, receiver } = await startWorld(engine, mode)
    let isDown = true
    const first = await app.customer()
    const { url, got } = await receiver((response, { objectId }) => {
      response.statusCode = isDown && objectId === first ? 500 : 200
      response.end()
    })
    await endpoint(url)
    dispatch()
    for (let count = 0; count < 3; count++) await change(first)
    const other = await app.customer()
    await change(other)
    const of = (id: string) => got.filter(({ objectId }) => objectId === id).map(({ sequence }) => sequence)
    await until(() => of(other).length === 2)
    expect(of(first)).toEqual([2])
    isDown = false
    // New events wait as well.
    await change(first)
    pass(6 * second)
    await until(() => of(first).length === 5)
    expect(of(first)).toEqual([2, 2, 3, 4, 7])
    expect(of(other)).toEqual([5, 6])
  })

  test('continues with the next event of an object after an event’s attempts are exhausted', async () => {
    const { app, dispatch, endpoint, until, pass, change, deliveries, receiver } = await startWorld(engine, mode)
    const customer = await app.customer()
    const { url, sequences } = await receiver((response, { sequence }) => {
      response.statusCode = sequence === 2 ? 500 : 200
      response.end()
    })
    const id = await endpoint(url)
    dispatch()
    await change(customer)
    await change(customer)
    for (let attempts = 1; attempts <= attemptDelaysMs.length; attempts++) {
      await until(async () => (await deliveries(id)).get(2)?.attempts === attempts)
      pass(30 * hour)
    }
    await until(() => sequences().includes(3))
    expect(sequences()).toEqual([...attemptDelaysMs.map(() => 2), 3])
    expect((await deliveries(id)).get(2)?.status).toBe('exhausted')
  })

  test('does not delay events of other objects when one object has hundreds of events', async () => {
    const { app, dispatch, endpoint, until, changes, receiver } = await startWorld(engine, mode)
    const slow = await app.customer()
    const held = Promise.withResolvers<void>()
    const { url, got } = await receiver(async (response, { objectId }) => {
      if (objectId === slow) await held.promise
      response.end()
    })
    await endpoint(url)
    await changes(300, slow)
    const quick = await app.customer()
    dispatch()
    await until(() => got.some(({ objectId }) => objectId === quick))
    expect(got.filter(({ objectId }) => objectId === slow).length).toBe(1)
    held.resolve()
    const slowOnes = () => got.filter(({ objectId }) => objectId === slow).map(({ sequence }) => sequence)
    await until(() => slowOnes().length >= 30)
    expect(slowOnes().slice(0, 30)).toEqual(Array.from({ length: 30 }, (_, place) => place + 2))
  })

  test('includes a requested resend soon, in order with the pending events of the object', async () => {
    const { app, dispatch, endpoint, until, pass, change, events, receiver } = await startWorld(engine, mode)
    const customer = await app.customer()
    let isDown = false
    const { url, sequences } = await receiver((response) => {
      response.statusCode = isDown ? 500 : 200
      response.end()
    })
    const id = await endpoint(url)
    dispatch()
    for (let count = 0; count < 2; count++) await change(customer)
    await until(() => sequences().length === 2)
    const [, second, third] = await events()
    const again = async (event = third) => {
      if (event === undefined) throw new Error('no such event')
      await perform(replayWebhookEvents, app.context(), { webhookId: id, eventId: eventId(event) })
    }
    await again()
    await until(() => sequences().length === 3)
    expect(sequences()).toEqual([2, 3, 3])

    isDown = true
    await again(second)
    await until(() => sequences().length === 4)
    isDown = false
    await again(third)
    await until(() => true)
    await delay(50)
    // The third waits for the second, which is retried later.
    expect(sequences()).toEqual([2, 3, 3, 2])
    pass(6 * 1_000)
    await until(() => sequences().length === 6)
    expect(sequences()).toEqual([2, 3, 3, 2, 2, 3])
  })

  test('repeats every event after a sequence number if the owner requests a resend', async () => {
    const { app, dispatch, endpoint, until, change, stored, receiver } = await startWorld(engine, mode)
    const customer = await app.customer()
    const { url, sequences } = await receiver()
    const id = await endpoint(url)
    dispatch()
    for (let count = 0; count < 3; count++) await change(customer)
    await until(async () => (await stored(id)).cursor === 4)
    await perform(replayWebhookEvents, app.context(), { webhookId: id, after: 1 })
    await until(() => sequences().length === 6)
    expect(sequences()).toEqual([2, 3, 4, 2, 3, 4])
  })

  test('repeats an event once if the owner requests a resend while a retry of the event is pending', async () => {
    const { app, dispatch, endpoint, until, change, deliveries, stored, pass, receiver } = await startWorld(
      engine,
      mode,
    )
    const [customer, other] = [await app.customer(), await app.customer()]
    let isDown = true
    const { url, sequences } = await receiver((response, { objectId }) => {
      response.statusCode = isDown && objectId === customer ? 500 : 200
      response.end()
    })
    const id = await endpoint(url)
    dispatch()
    await change(customer)
    await change(other)
    await until(async () => (await stored(id)).cursor === 4 && (await deliveries(id)).get(3)?.status === 'pending')
    await perform(replayWebhookEvents, app.context(), { webhookId: id, after: 2 })
    await until(() => sequences().length === 3)
    isDown = false
    pass(hour)
    await change(customer)
    await until(() => sequences().includes(5))
    expect(sequences().filter((sequence) => sequence !== 4)).toEqual([3, 3, 5])
  })

  test('includes a test event only for the endpoint that is tested', async () => {
    const { app, dispatch, endpoint, until, change, receiver } = await startWorld(engine, mode)
    const customer = await app.customer()
    const [tested, other] = [await receiver(), await receiver()]
    const webhookId = await endpoint(tested.url, { types: ['customer.updated'] })
    await endpoint(other.url)
    dispatch()
    await perform(testWebhookEndpoint, app.context(), { webhookId })
    await change(customer)
    await until(() => tested.sequences().length === 2 && other.sequences().length === 1)
    expect(tested.got.map(({ type }) => type)).toEqual(['webhook.test', 'customer.updated'])
    expect(other.got.map(({ type }) => type)).toEqual(['customer.updated'])
  })

  test('stays in order when the owner enables the endpoint again, which retries all events immediately', async () => {
    const { app, dispatch, endpoint, until, change, receiver } = await startWorld(engine, mode)
    const customer = await app.customer()
    let isDown = true
    const { url, sequences } = await receiver((response) => {
      response.statusCode = isDown ? 500 : 200
      response.end()
    })
    const id = await endpoint(url)
    const dispatcher = dispatch()
    for (let count = 0; count < 4; count++) await change(customer)
    await until(() => sequences().length === 1)
    await delay(50)
    isDown = false
    await perform(enableWebhookEndpoint, app.context(), { webhookId: id })
    await dispatcher.poll()
    await until(() => sequences().length === 5)
    expect(sequences()).toEqual([2, 2, 3, 4, 5])
  })

  test('omits events to which the endpoint does not subscribe, and moves the cursor past them', async () => {
    const { app, dispatch, endpoint, until, stored, changes, pass, elapse, receiver } = await startWorld(engine, mode)
    const { url, got } = await receiver()
    const id = await endpoint(url, { types: ['customer.created'] })
    const customer = await app.customer()
    await changes(700, customer)
    await app.customer()
    await changes(10, customer)
    pass(day)
    dispatch()
    await until(async () => (await stored(id)).cursor === 712)
    expect(got.map(({ type }) => type)).toEqual(['customer.created', 'customer.created'])
    // The cursor advances without new events.
    await changes(3, customer)
    elapse(5 * second)
    await until(async () => (await stored(id)).cursor === 715, 'the cursor passes what is not sent')
  })
})
