import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Perform, Service } from '../../src/context.ts'
import { createService } from '../../src/context.ts'
import { createCustomer } from '../../src/customers/create-customer.ts'
import { leases } from '../../src/dispatch/leases.ts'
import { logPruner } from '../../src/dispatch/prune-log.ts'
import type { Attempted } from '../../src/dispatch/record-attempts.ts'
import { recordAttempts } from '../../src/dispatch/record-attempts.ts'
import { deliveriesNumbered, nextLog } from '../../src/dispatch/repository.ts'
import { unavailable } from '../../src/errors.ts'
import { laterBy } from '../../src/ids.ts'
import { deleteWebhookEndpoint } from '../../src/webhooks/delete-webhook-endpoint.ts'
import { replayWebhookEvents } from '../../src/webhooks/replay-webhook-events.ts'
import { updateWebhookEndpoint } from '../../src/webhooks/update-webhook-endpoint.ts'
import { dullCustomer } from '../support/app.ts'
import { describePostgres } from '../support/engines.ts'
import { perform } from '../support/perform.ts'
import { dueTime } from '../support/times.ts'
import { answering, day, everyWorld, minute, second, startWorld } from './support/world.ts'

const noId = '00000000-0000-0000-0000-000000000000'

describe.each(everyWorld)('where something fails on %s in %s', (engine, mode) => {
  test('what can not be recorded now is recorded later, and nothing is lost', async () => {
    const { app, dispatch, endpoint, until, stored, faults, customers, receiver } = await startWorld(engine, mode)
    const { url, sequences } = await receiver()
    let isDown = true
    const failing: Perform = (operation, context, input) =>
      isDown && operation.name === 'recordAttempts' ? Promise.reject(unavailable()) : operation(context, input)
    const id = await endpoint(url)
    await customers(10)
    dispatch({ service: { ...app.service, perform: failing } })
    await until(() => faults.length > 0)
    isDown = false
    await until(async () => (await stored(id)).cursor === 10)
    expect(sequences().sort((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  test('what fails while it is read what is due is tried again when that is due itself', async () => {
    const { app, dispatch, endpoint, until, pass, deliveries, receiver } = await startWorld(engine, mode)
    const first = Promise.withResolvers<void>()
    const { url, got } = await receiver(async (response, _, count) => {
      if (count === 1) await first.promise
      response.statusCode = count <= 2 ? 500 : 200
      response.end()
    })
    let held: Promise<void> | null = null
    let isReading = false
    const execute: Service['db']['execute'] = async (query, params) => {
      const rows = await app.db.execute(query, params)
      if (held === null || !('after' in params) || typeof params.after !== 'bigint') return rows as never
      isReading = true
      await held
      return rows as never
    }
    const id = await endpoint(url)
    dispatch({ service: { ...app.service, db: { ...app.db, execute } } })
    await app.customer()
    await app.customer()
    await until(async () => (await deliveries(id)).size === 1)
    const { promise, resolve: letGo } = Promise.withResolvers<void>()
    held = promise
    pass(6 * second)
    await until(() => isReading)
    first.resolve()
    await until(async () => (await deliveries(id)).size === 2)
    held = null
    letGo()
    await until(() => got.length === 3)
    pass(10 * second)
    await until(() => got.length === 4)
  })

  test('a clock that is right again after a day ahead is the one that attempts are signed and tried again by', async () => {
    const { app, dispatch, endpoint, until, pass, deliveries, receiver } = await startWorld(engine, mode)
    const rightTime = app.service.now()
    let isDown = false
    const { url, got, received } = await receiver((response) => {
      response.statusCode = isDown ? 500 : 200
      response.end()
    })
    const id = await endpoint(url)
    dispatch()
    pass(day)
    await app.customer()
    await until(async () => (await deliveries(id)).size === 1)
    pass(-day)
    isDown = true
    await app.customer()
    await until(async () => (await deliveries(id)).size === 2)
    expect(received.map(({ headers }) => Number(headers['webhook-timestamp']))).toEqual([
      (rightTime + day) / 1000,
      rightTime / 1000,
    ])
    isDown = false
    pass(10 * second)
    await until(() => got.length === 3)
  })

  test('what sends ends in time though receivers do not answer, and records nothing that it does not know', async () => {
    const { app, dispatch, endpoint, until, stored, deliveries, customers, receiver } = await startWorld(engine, mode)
    const { url, got } = await receiver(() => {})
    const id = await endpoint(url)
    const dispatcher = dispatch()
    await customers(6)
    await until(() => got.length === 2)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let isOver = false
    const stopped = dispatcher.stop().then(() => {
      isOver = true
    })
    await vi.advanceTimersByTimeAsync(3 * second - 1)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    vi.useRealTimers()
    await stopped
    await delay(50)
    expect((await deliveries(id)).size).toBe(0)
    expect((await stored(id)).cursor).toBe(0)
    const after = await receiver()
    await perform(updateWebhookEndpoint, app.context(), { webhookId: id, url: after.url })
    dispatch()
    await until(() => after.got.length === 6)
  })

  test('merchants whose receivers hang hold up no other', async () => {
    const { app, dispatch, endpoint, until, merchants, customers, receiver } = await startWorld(engine, mode)
    const hanging = await receiver(() => {})
    const { url, got } = await receiver()
    await endpoint(url)
    dispatch()
    await app.customer()
    await until(() => got.length === 1)
    const contexts = await merchants(10, { url: hanging.url, endpoints: 3 })
    await Promise.all(contexts.map((context) => customers(6, context)))
    // These have half of all places, because none of them was ever seen to answer.
    await until(() => hanging.got.length === 32)
    await app.customer()
    await until(() => got.length === 2, 'the other is sent to')
    expect(hanging.got.length).toBe(32)
  })

  test('nor do those whose receivers take long and then agree', async () => {
    const { app, dispatch, endpoint, until, merchants, customers, elapse, receiver } = await startWorld(engine, mode)
    const held = Promise.withResolvers<void>()
    let answered = 0
    const slow = await receiver(async (response, _, count) => {
      if (count > 30) return
      await held.promise
      answered++
      response.end()
    })
    const { url, got } = await receiver()
    await endpoint(url)
    dispatch()
    await app.customer()
    const contexts = await merchants(10, { url: slow.url, endpoints: 3 })
    await Promise.all(contexts.map((context) => customers(1, context)))
    await until(() => slow.got.length === 30 && got.length === 1)
    elapse(second)
    held.resolve()
    await until(() => answered === 30)
    await Promise.all(contexts.map((context) => customers(6, context)))
    await until(() => slow.got.length >= 30 + 32)
    await app.customer()
    await until(() => got.length === 2, 'the other is sent to')
    expect(slow.got.length).toBe(30 + 32)
  })

  test('each place that receivers who hang leave goes to the next that waits for one, not back to them', async () => {
    const { app, dispatch, endpoint, until, merchants, customers, receiver } = await startWorld(engine, mode)
    const held: ServerResponse[] = []
    const hanging = await receiver((response) => {
      held.push(response)
    })
    const { url, got } = await receiver()
    const dispatcher = dispatch()
    const contexts = await merchants(10, { url: hanging.url, endpoints: 3 })
    await Promise.all(contexts.map((context) => customers(6, context)))
    await until(() => hanging.got.length === 32)
    await endpoint(url)
    await app.customer()
    await dispatcher.look()
    expect(got).toEqual([])
    // Two others have waited for longer, with as many as one merchant may have on its way.
    for (let freed = 0; freed < 10; freed++) {
      const before = hanging.got.length + got.length
      held[freed]?.writeHead(500).end()
      await until(() => hanging.got.length + got.length > before)
    }
    expect(got.length).toBe(1)
  })

  test('an attempt that another process has overtaken is told in the log, and changes nothing', async () => {
    const { app, dispatch, endpoint, until, stored, events, receiver } = await startWorld(engine, mode)
    const { url } = await receiver()
    const endpointId = await endpoint(url)
    await app.customer()
    dispatch()
    await until(async () => (await stored(endpointId)).cursor === 1)
    const [event] = await events()
    const stale: Omit<Attempted, 'known'> = {
      ...{
        sequence: 1,
        objectId: event?.objectId ?? '',
        happenedAt: '2026-03-02T09:00:00.000Z',
        attemptedAt: '2026-03-02T09:00:00.000Z',
        durationMs: 15_000,
      },
      ...{ status: null, answer: null, error: 'timeout: x', becomes: 'pending', nextAttemptAt: dueTime(1), tries: 0 },
    }
    const whose = { merchantId: app.merchant.id, endpointId, sequences: [1] }
    for (const known of [null, 0]) {
      const report = {
        endpointId,
        attempted: [{ ...stale, known }],
        waiting: [],
        cursor: { from: 0, to: 1 },
        isGone: false,
      }
      expect(await recordAttempts(app.context(), report)).toMatchObject({ isMoved: true, pending: [] })
    }
    expect(await deliveriesNumbered(app.db, whose)).toMatchObject([{ status: 'delivered', attempts: 3 }])
    expect((await stored(endpointId)).cursor).toBe(1)
  })

  test('the log is kept for 30 days, also that of an endpoint which is gone; what is older may be sent again', async () => {
    const { app, dispatch, endpoint, until, stored, pass, deliveries, customers, receiver } = await startWorld(
      engine,
      mode,
    )
    const { url, sequences } = await receiver()
    const failing = await receiver(answering(500))
    const [id, other] = [await endpoint(url), await endpoint(url)]
    // What waits to be tried again is not any more.
    const down = await endpoint(failing.url)
    const dispatcher = dispatch()
    await customers(3)
    const ids = [id, other, down]
    await until(async () => (await Promise.all(ids.map((each) => stored(each)))).every(({ cursor }) => cursor === 3))
    for (const webhookId of [other, down]) await perform(deleteWebhookEndpoint, app.context(), { webhookId })
    await dispatcher.stop()
    pass(31 * day)
    await app.customer()
    const prune = logPruner(app.service)
    for (let calls = 0; calls < 4; calls++) await prune()
    expect(await nextLog(app.db, { merchantId: noId, endpointId: noId })).toBeNull()
    await perform(replayWebhookEvents, app.context(), { webhookId: id, after: 0 })
    dispatch()
    await until(async () => (await stored(id)).cursor === 4)
    expect(sequences().length).toBe(10)
    expect([...(await deliveries(id)).values()].map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1])
  })
})

describePostgres('two processes on one database', {}, () => {
  test('send for each merchant one at a time; who dies is followed once its lease is over', async () => {
    const { app, dispatch, until, pass, merchants, receiver } = await startWorld('postgres')
    const { url, got } = await receiver()
    const contexts = await merchants(4, { url, endpoints: 1 })
    // The first dies: it never gives back what it has.
    const held = leases(app.service, 'dead')
    const ids = contexts.map(({ merchantId }) => merchantId)
    expect((await held.take(ids)).size).toBe(4)
    const next = leases(app.service, 'next')
    expect((await next.take(ids)).size).toBe(0)
    dispatch({ leases: next })
    dispatch({ leases: leases(app.service, 'third') })
    for (const context of contexts) await perform(createCustomer, context, dullCustomer)
    await until(() => true)
    await delay(50)
    expect(got).toEqual([])
    pass(31 * second)
    await until(() => got.length === 4)
    for (const context of contexts) await perform(createCustomer, context, dullCustomer)
    await until(() => got.length === 8)
    await delay(50)
    expect(got.length).toBe(8)
  })

  test('lease thousands of merchants in a few transactions: else the first would be over before the last is had', async () => {
    const { app } = await startWorld('postgres')
    const ids = (await Promise.all(Array.from({ length: 150 }, app.otherMerchant))).map(({ id }) => id)
    let writes = 0
    const write: Service['db']['write'] = (operation, options) => {
      writes++
      return app.db.write(operation, options)
    }
    const counted = { ...app.service, db: { ...app.db, write } }
    expect((await leases(counted, 'one').take(ids)).size).toBe(150)
    expect(writes).toBe(2)
    expect((await leases(app.service, 'other').take([...ids].reverse())).size).toBe(0)
  })

  test('keep what they have leased when a clock of theirs was ahead for a while', async () => {
    const { app, pass } = await startWorld('postgres')
    const { id } = await app.otherMerchant()
    let aheadMs = 0
    const clock = () => app.service.wallClock() + aheadMs
    const stepping = createService({ db: app.db, mode: 'sandbox', clock })
    const [one, other] = [leases(stepping, 'one'), leases(app.service, 'other')]
    aheadMs = day
    stepping.now()
    aheadMs = 0
    expect((await one.take([id])).size).toBe(1)
    pass(second)
    expect((await other.take([id])).size).toBe(0)
  })

  test('take what was leased by a clock that was wrong', async () => {
    const { app, endpoint, pass, contextOf, nowhere } = await startWorld('postgres')
    const { id } = await app.otherMerchant()
    await endpoint(nowhere, {}, contextOf(id))
    const wrong: Service = { ...app.service, wallClock: () => laterBy(10 * 365 * day, app.service.wallClock()) }
    expect((await leases(wrong, 'wrong').take([id])).size).toBe(1)
    pass(minute)
    expect((await leases(app.service, 'right').take([id])).size).toBe(1)
  })
})
