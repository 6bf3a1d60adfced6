import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { unavailable } from '../../../../src/core/errors.ts'
import { createLogPruner } from '../../../../src/modules/webhooks/dispatcher/prune-delivery-log.ts'
import type { AttemptRecord } from '../../../../src/modules/webhooks/dispatcher/record-attempts.ts'
import { recordAttempts } from '../../../../src/modules/webhooks/dispatcher/record-attempts.ts'
import { deliveriesBySequence, nextDeliveryLog } from '../../../../src/modules/webhooks/dispatcher/repository.ts'
import { deleteWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/delete-webhook-endpoint.ts'
import { replayWebhookEvents } from '../../../../src/modules/webhooks/endpoints/replay-webhook-events.ts'
import { updateWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/update-webhook-endpoint.ts'
import type { Service } from '../../../../src/operations/context.ts'
import { perform } from '../../../support/perform.ts'
import { dueTime } from '../../../support/times.ts'
import { day, everyWorld, replyWithStatus, second, startWorld, useFakeTimers } from './support/world.ts'

const noId = '00000000-0000-0000-0000-000000000000'

describe.each(everyWorld)('webhook delivery during faults on %s in %s', (engine, mode) => {
  test('an attempt that could not be recorded is recorded a second later, and no event is lost', async () => {
    const { dispatch, endpoint, until, stored, faults, customers, failing, receiver } = await startWorld(engine, mode)
    const { url, sequences } = await receiver()
    const { state, service } = failing()
    const id = await endpoint(url)
    await customers(10)
    useFakeTimers()
    dispatch({ service })
    await until(() => faults.length > 0)
    const { tries } = state
    await vi.advanceTimersByTimeAsync(900)
    expect(state.tries).toBe(tries)
    await until(() => state.tries > tries)
    state.isDown = false
    await until(async () => (await stored(id)).cursor === 10)
    expect(sequences().sort((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  test('an endpoint that responds with status 410 is disabled even if recording the response fails at first', async () => {
    const { app, dispatch, endpoint, until, stored, faults, failing, receiver } = await startWorld(engine, mode)
    const { url, got } = await receiver(replyWithStatus(410))
    const { state, service } = failing()
    const id = await endpoint(url)
    await app.customer()
    useFakeTimers()
    dispatch({ service })
    await until(() => faults.length > 0)
    state.isDown = false
    await until(async () => (await stored(id)).status === 'disabled')
    expect((await stored(id)).disabledReason).toBe('gone')
    expect(got.length).toBe(1)
  })

  test('sending pauses while 64 results of attempts cannot be recorded', async () => {
    const { dispatch, endpoint, until, stored, customers, failing, receiver } = await startWorld(engine, mode)
    const { url, got, sequences } = await receiver()
    const { state, service } = failing()
    const id = await endpoint(url)
    await customers(80)
    useFakeTimers()
    dispatch({ service })
    await until(() => got.length >= 64)
    const { tries } = state
    await until(() => state.tries > tries + 1)
    // Up to three were in flight when the last result arrived.
    expect(got.length).toBeLessThan(64 + 4)
    state.isDown = false
    await until(async () => (await stored(id)).cursor === 80)
    expect(new Set(sequences()).size).toBe(80)
    expect(got.length).toBe(80)
  })

  test('a stopping dispatcher tries once more to record its results, and then gives up', async () => {
    const { app, dispatch, endpoint, until, stored, faults, failing, receiver } = await startWorld(engine, mode)
    const { url, got } = await receiver()
    const { state, service } = failing()
    const id = await endpoint(url)
    await app.customer()
    useFakeTimers()
    const dispatcher = dispatch({ service })
    await until(() => faults.length === 1)
    let isOver = false
    dispatcher.stop().then(() => {
      isOver = true
    })
    await vi.advanceTimersByTimeAsync(1_500)
    await new Promise(setImmediate)
    expect(isOver).toBe(true)
    expect(state.tries).toBeLessThanOrEqual(2)
    expect([got.length, (await stored(id)).cursor]).toEqual([1, 0])
  })

  test('the result of an attempt that ends while the dispatcher stops is recorded by a single write', async () => {
    const { app, dispatch, endpoint, until, failing, receiver } = await startWorld(engine, mode)
    const held = Promise.withResolvers<void>()
    const { url, got } = await receiver(async (response) => {
      await held.promise
      response.end()
    })
    const { state, service } = failing()
    await endpoint(url)
    await app.customer()
    const dispatcher = dispatch({ service })
    await until(() => got.length === 1)
    useFakeTimers()
    const stopped = dispatcher.stop()
    held.resolve()
    // No timer advances, so it cannot wait for one.
    await stopped
    expect(state.tries).toBe(1)
  })

  test('an event that waits for an earlier event of its object is recorded even if the first write fails', async () => {
    const { app, dispatch, endpoint, until, deliveries, faults, change, failing, receiver } = await startWorld(
      engine,
      mode,
    )
    const { url, got } = await receiver(replyWithStatus(500))
    const { state, service } = failing()
    state.isDown = false
    const id = await endpoint(url)
    useFakeTimers()
    dispatch({ service })
    const customer = await app.customer()
    await until(async () => (await deliveries(id)).size === 1)
    state.isDown = true
    await change(customer)
    await until(() => faults.length === 1)
    state.isDown = false
    await until(async () => (await deliveries(id)).size === 2)
    expect([...(await deliveries(id)).values()].map(({ status, attempts }) => [status, attempts])).toEqual([
      ['pending', 0],
      ['pending', 1],
    ])
    expect(got.length).toBe(1)
  })

  test('due retries are read again a second after a failed read', async () => {
    const { app, dispatch, endpoint, until, pass, elapse, deliveries, faults, receiver } = await startWorld(
      engine,
      mode,
    )
    const { url, got } = await receiver((response, _, count) =>
      replyWithStatus(count === 1 ? 500 : 200)(response, _, count),
    )
    let isDown = false
    const execute: Service['db']['execute'] = async (query, params) => {
      if (isDown && 'now' in params && 'limit' in params) throw unavailable()
      return app.db.execute(query, params)
    }
    const id = await endpoint(url)
    const dispatcher = dispatch({ service: { ...app.service, db: { ...app.db, execute } } })
    await app.customer()
    await until(async () => (await deliveries(id)).size === 1)
    isDown = true
    pass(6 * second)
    await until(() => faults.length === 1)
    isDown = false
    for (let looks = 0; looks < 5; looks++) await dispatcher.poll()
    expect([got.length, faults.length]).toEqual([1, 1])
    elapse(second)
    await until(() => got.length === 2)
  })

  test('an event that fails during the read of due retries is retried when it is due', async () => {
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

  test('attempts are signed and retried with the correct time after a clock that was a day ahead is corrected', async () => {
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

  test('the dispatcher stops within its time limit although receivers do not respond, and records no result', async () => {
    const { app, dispatch, endpoint, until, stored, deliveries, customers, receiver } = await startWorld(engine, mode)
    let closed = 0
    const { url, got } = await receiver((response) => response.once('close', () => closed++))
    const id = await endpoint(url)
    const dispatcher = dispatch()
    await customers(6)
    await until(() => got.length === 2)
    useFakeTimers()
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
    await expect.poll(() => closed).toBe(2)
    const after = await receiver()
    await perform(updateWebhookEndpoint, app.context(), { webhookId: id, url: after.url })
    dispatch()
    await until(() => after.got.length === 6)
  })

  test('merchants with hanging receivers do not delay other merchants', async () => {
    const { app, dispatch, endpoint, until, merchants, customers, receiver } = await startWorld(engine, mode)
    const hanging = await receiver(() => {})
    const { url, got } = await receiver()
    await endpoint(url)
    dispatch()
    await app.customer()
    await until(() => got.length === 1)
    const contexts = await merchants(10, { url: hanging.url, endpoints: 3 })
    await Promise.all(contexts.map((context) => customers(6, context)))
    // These get half of all slots, because none of them has ever responded.
    await until(() => hanging.got.length === 32)
    await app.customer()
    await until(() => got.length === 2, 'the other is sent to')
    expect(hanging.got.length).toBe(32)
  })

  test('merchants with slow but successful receivers do not delay other merchants', async () => {
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

  test('a slot that a hanging receiver frees goes to the endpoint that has waited longest, not to the same receiver', async () => {
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
    await dispatcher.poll()
    expect(got).toEqual([])
    // Two others have waited longer, each with the maximum in flight for one merchant.
    for (let freed = 0; freed < 10; freed++) {
      const before = hanging.got.length + got.length
      held[freed]?.writeHead(500).end()
      await until(() => hanging.got.length + got.length > before)
    }
    expect(got.length).toBe(1)
  })

  test('an attempt changes only the delivery log if another process has already recorded a newer attempt', async () => {
    const { app, dispatch, endpoint, until, stored, events, receiver } = await startWorld(engine, mode)
    const { url } = await receiver()
    const endpointId = await endpoint(url)
    await app.customer()
    dispatch()
    await until(async () => (await stored(endpointId)).cursor === 1)
    const [event] = await events()
    const stale: Omit<AttemptRecord, 'storedAttempts'> = {
      ...{
        sequence: 1,
        objectId: event?.objectId ?? '',
        happenedAt: '2026-03-02T09:00:00.000Z',
        attemptedAt: '2026-03-02T09:00:00.000Z',
        durationMs: 15_000,
      },
      ...{
        status: null,
        answer: null,
        error: 'timeout: x',
        outcome: 'pending',
        nextAttemptAt: dueTime(1),
        attemptsInSchedule: 0,
      },
    }
    const whose = { merchantId: app.merchant.id, endpointId, sequences: [1] }
    for (const storedAttempts of [null, 0]) {
      const report = {
        endpointId,
        attempted: [{ ...stale, storedAttempts }],
        waiting: [],
        cursor: { from: 0, to: 1 },
        isGone: false,
      }
      expect(await recordAttempts(app.context(), report)).toMatchObject({ isMoved: true, pending: [] })
    }
    expect(await deliveriesBySequence(app.db, whose)).toMatchObject([{ status: 'delivered', attempts: 3 }])
    expect((await stored(endpointId)).cursor).toBe(1)
  })

  test('the delivery log is stored for 30 days, even for a deleted endpoint, and older events can still be resent', async () => {
    const { app, dispatch, endpoint, until, stored, pass, deliveries, customers, receiver } = await startWorld(
      engine,
      mode,
    )
    const { url, sequences } = await receiver()
    const failing = await receiver(replyWithStatus(500))
    const [id, other] = [await endpoint(url), await endpoint(url)]
    // The events that waited for a retry are not removed.
    const down = await endpoint(failing.url)
    const dispatcher = dispatch()
    await customers(3)
    const ids = [id, other, down]
    await until(async () => (await Promise.all(ids.map((each) => stored(each)))).every(({ cursor }) => cursor === 3))
    for (const webhookId of [other, down]) await perform(deleteWebhookEndpoint, app.context(), { webhookId })
    await dispatcher.stop()
    pass(31 * day)
    await app.customer()
    const prune = createLogPruner(app.service)
    for (let calls = 0; calls < 4; calls++) await prune()
    expect(await nextDeliveryLog(app.db, { merchantId: noId, endpointId: noId })).toBeNull()
    await perform(replayWebhookEvents, app.context(), { webhookId: id, after: 0 })
    dispatch()
    await until(async () => (await stored(id)).cursor === 4)
    expect(sequences().length).toBe(10)
    expect([...(await deliveries(id)).values()].map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1])
  })
})
