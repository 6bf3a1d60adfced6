import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createSecrets } from '../../../../src/core/secrets/secrets.ts'
import { createCustomer } from '../../../../src/modules/customers/create-customer.ts'
import type { Event } from '../../../../src/modules/outbox/event.ts'
import { eventId } from '../../../../src/modules/outbox/event.ts'
import { advanceClock } from '../../../../src/modules/rails/orders/advance-clock.ts'
import { deleteWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/delete-webhook-endpoint.ts'
import { disableWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/disable-webhook-endpoint.ts'
import { enableWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/enable-webhook-endpoint.ts'
import { activeSecrets } from '../../../../src/modules/webhooks/endpoints/endpoint-secrets.ts'
import { replayWebhookEvents } from '../../../../src/modules/webhooks/endpoints/replay-webhook-events.ts'
import { rotateWebhookSecret } from '../../../../src/modules/webhooks/endpoints/rotate-webhook-secret.ts'
import { updateWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/update-webhook-endpoint.ts'
import type { Mode } from '../../../../src/operations/context.ts'
import { createContext } from '../../../../src/operations/context.ts'
import type { Engine } from '../../../support/app.ts'
import { everyEngine } from '../../../support/app.ts'
import { sampleCustomer } from '../../../support/bodies.ts'
import { perform } from '../../../support/perform.ts'
import { day, everyWorld, hour, replyWithStatus, second, startWorld } from './support/world.ts'

/** Creates a world with a receiver that responds only after its release. */
async function startHeld(engine: Engine, mode: Mode, status = 200) {
  const world = await startWorld(engine, mode)
  const held = Promise.withResolvers<void>()
  const old = await world.receiver(async (response) => {
    await held.promise
    response.statusCode = status
    response.end()
  })
  return { ...world, old, letGo: () => held.resolve() }
}

describe.each(everyWorld)('a webhook endpoint on %s in %s', (engine, mode) => {
  test('misses no event and gets no event twice when its URL is changed during an attempt', async () => {
    const { app, dispatch, endpoint, until, stored, receiver, old, letGo } = await startHeld(engine, mode)
    const fresh = await receiver()
    const id = await endpoint(old.url)
    dispatch()
    for (let count = 0; count < 6; count++) await app.customer()
    await until(() => old.got.length === 2)
    // The changes are distinguished although the clock does not advance.
    await perform(updateWebhookEndpoint, app.context(), { webhookId: id, description: 'x' })
    await perform(updateWebhookEndpoint, app.context(), { webhookId: id, url: fresh.url })
    const other = await receiver()
    // An attempt in flight to one endpoint does not delay the others.
    await endpoint(other.url)
    await app.customer()
    await until(() => other.got.length === 1)
    expect(fresh.got).toEqual([])
    letGo()
    await until(async () => (await stored(id)).cursor === 7)
    expect([...old.sequences(), ...fresh.sequences()].sort()).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(fresh.sequences()).toEqual(expect.arrayContaining([3, 4, 5, 6, 7]))
  })

  test.each([
    ['disabled', disableWebhookEndpoint],
    ['deleted', deleteWebhookEndpoint],
  ] as const)('gets no further webhook after it is %s during an attempt', async (_, stopIt) => {
    const { app, dispatch, endpoint, until, customers, faults, old, letGo } = await startHeld(engine, mode)
    const webhookId = await endpoint(old.url)
    const dispatcher = dispatch()
    await customers(8)
    await until(() => old.got.length === 2)
    await perform(stopIt as typeof disableWebhookEndpoint, app.context(), { webhookId })
    await dispatcher.poll()
    letGo()
    await app.customer()
    await delay(50)
    await dispatcher.poll()
    expect([old.got.length, faults]).toEqual([2, []])
  })

  test('gets no retry of a failed attempt that was in flight when the endpoint was resumed from the latest event', async () => {
    const world = await startHeld(engine, mode, 500)
    const { app, dispatch, endpoint, until, pass, deliveries, customers, letGo } = world
    const { url, got } = world.old
    const webhookId = await endpoint(url)
    const dispatcher = dispatch()
    await customers(8)
    await until(() => got.length === 2)
    await perform(enableWebhookEndpoint, app.context(), { webhookId, from: 'now' })
    await dispatcher.poll()
    letGo()
    await until(async () => (await deliveries(webhookId)).size === 2)
    pass(2 * day)
    await dispatcher.poll()
    await delay(50)
    expect(got.length).toBe(2)
    expect([...(await deliveries(webhookId)).values()].map(({ status }) => status)).toEqual(Array(2).fill('exhausted'))
  })

  test('is disabled after days of failures, which records an event, and is enabled again by a successful probe', async () => {
    const { dispatch, endpoint, until, pass, stored, events, change, customers, receiver } = await startWorld(
      engine,
      mode,
    )
    let isDown = true
    const { url, got } = await receiver((response) => {
      response.statusCode = isDown ? 500 : 200
      response.end()
    })
    const id = await endpoint(url)
    dispatch()
    const created = await customers(15)
    await until(async () => (await stored(id)).failures === 15)
    pass(6 * day)
    // An endpoint is disabled only after both enough time and enough failures.
    expect((await stored(id)).status).toBe('enabled')
    await until(async () => (await stored(id)).status === 'disabled')
    const { disabledReason, failures, cursor } = await stored(id)
    expect({ disabledReason, isEnough: failures >= 20, cursor }).toEqual({
      disabledReason: 'failing',
      isEnough: true,
      cursor: 15,
    })
    expect((await events()).at(-1)).toMatchObject({ type: 'webhook_endpoint.disabled', objectId: id })

    const before = got.length
    await change(created[0] as string)
    pass(23 * hour)
    await until(() => true)
    await delay(50)
    expect(got.length).toBe(before)
    pass(2 * hour)
    await until(() => got.length === before + 1)
    await until(async () => ((await stored(id)).probeAt ?? '') > '2026-03-10')
    expect((await stored(id)).status).toBe('disabled')
    isDown = false
    pass(25 * hour)
    await until(async () => (await stored(id)).status === 'enabled')
    pass(30 * hour)
    await until(async () => (await stored(id)).cursor >= 17)
    await until(() => new Set(got.map(({ sequence }) => sequence)).size === 17)
  })

  test('gets one attempt at a time after many failures, even without new events', async () => {
    const { dispatch, endpoint, until, deliveries, customers, elapse, receiver } = await startWorld(engine, mode)
    const attempts: { startedAt: number; endedAt: number }[] = []
    const { url } = await receiver(async (response) => {
      const attempt = { startedAt: performance.now(), endedAt: Number.POSITIVE_INFINITY }
      attempts.push(attempt)
      await delay(5)
      attempt.endedAt = performance.now()
      response.statusCode = 500
      response.end()
    })
    const id = await endpoint(url)
    await customers(27)
    dispatch()
    await until(async () => (await deliveries(id)).size >= 20)
    await until(async () => {
      elapse(second)
      return (await deliveries(id)).size === 27
    })
    // When the twentieth fails, one more may be in flight; each later one starts a second after all earlier ones have ended.
    const pauses = attempts
      .map(({ startedAt }, i) => startedAt - Math.max(...attempts.slice(0, i).map(({ endedAt }) => endedAt)))
      .slice(21)
    expect(pauses.length).toBe(6)
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(second)
  })

  test('gets no further webhook after it has responded with status 410', async () => {
    const { app, dispatch, endpoint, until, stored, receiver } = await startWorld(engine, mode)
    const { url, got } = await receiver(replyWithStatus(410))
    const id = await endpoint(url)
    const dispatcher = dispatch()
    await app.customer()
    await until(async () => (await stored(id)).status === 'disabled')
    expect(await stored(id)).toMatchObject({ disabledReason: 'gone', probeAt: null })
    await app.customer()
    await dispatcher.poll()
    await delay(50)
    expect(got.length).toBe(1)
  })

  test('that responds with status 429 gets one attempt at a time after the requested pause, until a success', async () => {
    const { app, dispatch, endpoint, until, deliveries, customers, elapse, receiver } = await startWorld(engine, mode)
    let [isDown, atOnce, most] = [true, 0, 0]
    const { url, got } = await receiver(async (response) => {
      atOnce++
      most = Math.max(most, atOnce)
      await delay(20)
      atOnce--
      if (isDown) response.setHeader('retry-after', got.length === 1 ? '1' : '7200')
      response.statusCode = isDown ? 429 : 200
      response.end()
    })
    const id = await endpoint(url)
    const dispatcher = dispatch()
    await app.customer()
    await until(async () => (await deliveries(id)).size === 1)
    await customers(8)
    elapse(500)
    await dispatcher.poll()
    await delay(50)
    expect(got.length).toBe(1)
    elapse(500)
    await until(async () => (await deliveries(id)).size === 2)
    expect(most).toBe(1)
    isDown = false
    // The endpoint pauses for at most a minute, the event for as long as requested.
    elapse(59 * second)
    await dispatcher.poll()
    await delay(50)
    expect(got.length).toBe(2)
    const [last] = [...(await deliveries(id)).values()]
    expect(Number(last?.nextAttemptAt) - Date.parse('2026-03-02T09:00:00.000Z')).toBe(7200 * second)
    elapse(second)
    await until(() => got.length === 9)
    expect(most).toBeGreaterThan(1)
  })

  test('whose secret cannot be decrypted does not delay other merchants, and the error is not logged at every poll', async () => {
    const { app, dispatch, endpoint, until, faults, elapse, receiver } = await startWorld(engine, mode)
    const { url, got } = await receiver()
    await endpoint(url)
    const merchant = await app.otherMerchant()
    const other = { ...app.service, secrets: createSecrets([Buffer.alloc(32, 9)]) }
    await endpoint(url, {}, { ...app.context(), ...other, merchantId: merchant.id })
    const dispatcher = dispatch({ service: other })
    await app.customer()
    await perform(createCustomer, { ...app.context(), merchantId: merchant.id }, sampleCustomer)
    await until(() => got.length === 1)
    for (let looks = 0; looks < 50; looks++) await dispatcher.poll()
    expect([got.length, faults.length]).toEqual([1, 1])
    // Retried after one second, then after two.
    for (const [seconds, count] of [
      [1, 2],
      [1, 2],
      [1, 3],
    ] as const) {
      elapse(seconds * second)
      for (let looks = 0; looks < 5; looks++) await dispatcher.poll()
      expect(faults.length).toBe(count)
    }
    expect(String(faults[0])).toContain('SECRETS_KEY')
  })
})

describe.each(everyEngine)('a sandbox endpoint on %s', (engine) => {
  test('gets a resend immediately and stops using an old secret immediately if its merchant’s clock is ahead', async () => {
    const { app, dispatch, endpoint, until, stored, events, deliveries, receiver } = await startWorld(engine, 'sandbox')
    let isDown = false
    const { url, got } = await receiver((response) => {
      response.statusCode = isDown ? 500 : 200
      response.end()
    })
    const webhookId = await endpoint(url)
    dispatch()
    await app.customer()
    await until(async () => (await stored(webhookId)).cursor === 1)
    const ahead = createContext(app.service, app.merchant.id, null, 30 * day)
    const [event] = await events()
    await perform(replayWebhookEvents, ahead, { webhookId, eventId: eventId(event as Event) })
    await until(() => got.length === 2, 'it is replayed')

    isDown = true
    await app.customer()
    await until(async () => (await deliveries(webhookId)).size === 2)
    isDown = false
    await perform(enableWebhookEndpoint, ahead, { webhookId })
    await until(() => got.length === 4, 'what waited is tried')

    await perform(rotateWebhookSecret, ahead, { webhookId, overlapHours: 0 })
    await app.customer()
    await until(() => got.length === 5)
    expect(activeSecrets(app.service, await stored(webhookId)).length).toBe(1)
  })

  test('gets the retries that become due when its merchant advances the clock', async () => {
    const { app, dispatch, endpoint, until, deliveries, receiver } = await startWorld(engine, 'sandbox')
    const { url, got } = await receiver(replyWithStatus(500))
    const webhookId = await endpoint(url)
    dispatch()
    await app.customer()
    await until(async () => (await deliveries(webhookId)).size === 1)
    await perform(advanceClock, app.context(), { by: 'PT1M' })
    await until(() => got.length === 2)
  })
})
