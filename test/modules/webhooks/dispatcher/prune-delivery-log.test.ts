import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createLogPruner, startLogPruner } from '../../../../src/modules/webhooks/dispatcher/prune-delivery-log.ts'
import { storeDelivery } from '../../../../src/modules/webhooks/dispatcher/repository.ts'
import type { Perform } from '../../../../src/operations/context.ts'
import type { Engine } from '../../../support/app.ts'
import { everyEngine } from '../../../support/app.ts'
import { day, hour, minute, startWorld } from './support/world.ts'

/** Creates an endpoint with `count` delivered events, and a pruner whose calls of operations are counted. */
async function startPruner(engine: Engine, count: number) {
  const world = await startWorld(engine)
  const { app, endpoint, changes, deliveries, nowhere } = world
  const { id: merchantId } = app.merchant
  const endpointId = await endpoint(nowhere)
  const objectId = await app.customer()
  await changes(count - 1, objectId)
  const delivered = { status: 'delivered', attempts: 1, attemptsBefore: 0, nextAttemptAt: null } as const
  await app.db.write(async (tx) => {
    for (let sequence = 1; sequence <= count; sequence++) {
      const createdAt = new Date(app.service.now()).toISOString()
      await storeDelivery(tx, { merchantId, endpointId, sequence, objectId, createdAt, ...delivered })
    }
  })
  let operations = 0
  const perform: Perform = (operation, context, input) => {
    operations++
    return operation(context, input)
  }
  return {
    ...world,
    prune: createLogPruner({ ...app.service, perform }),
    left: async () => (await deliveries(endpointId)).size,
    operations: () => operations,
  }
}

describe.each(everyEngine)('the delivery log on %s', (engine) => {
  test('is stored for 30 days, and then removed by the next hourly pass', async () => {
    const { app, prune, left, operations, pass, elapse } = await startPruner(engine, 3)
    pass(29 * day)
    await app.customer()
    for (let calls = 0; calls < 3; calls++) await prune()
    expect([await left(), operations()]).toEqual([3, 0])
    pass(2 * day)
    elapse(hour - minute)
    for (let calls = 0; calls < 3; calls++) await prune()
    expect(await left()).toBe(3)
    elapse(minute)
    for (let calls = 0; calls < 3; calls++) await prune()
    expect(await left()).toBe(0)
  })

  test('loses all old deliveries of an endpoint in one pass, in batches of 500', async () => {
    const { app, prune, left, operations, pass } = await startPruner(engine, 502)
    pass(31 * day)
    await app.customer()
    await prune()
    expect(await left()).toBe(2)
    for (let calls = 0; calls < 3; calls++) await prune()
    expect([await left(), operations()]).toEqual([0, 2])
  })
})

// On PostgreSQL, the fake timers would also end queries that wait for the server.
test('the delivery log is pruned by a background job, which continues after an error until it is stopped', async () => {
  const { app, left, pass, until } = await startPruner('sqlite', 3)
  pass(31 * day)
  await app.customer()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const errors: unknown[] = []
  let isDown = true
  const perform: Perform = (operation, context, input) => {
    if (isDown) throw new Error('the writer is down')
    return operation(context, input)
  }
  const service = { ...app.service, perform }
  const stopped = startLogPruner({ service, onError: (error) => errors.push(error) })
  await until(() => errors.length > 0)
  await stopped.stop()
  const count = errors.length
  await vi.advanceTimersByTimeAsync(5_000)
  expect(errors).toEqual(Array(count).fill(new Error('the writer is down')))
  expect(await left()).toBe(3)
  let batches = 0
  const stopsDuringBatch = startLogPruner({
    service: {
      ...service,
      perform: async () => {
        batches++
        void stopsDuringBatch.stop()
        return Promise.reject(new Error('the service stops'))
      },
    },
    onError: () => {},
  })
  await until(() => batches > 0)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(batches).toBe(1)
  const running = startLogPruner({
    service,
    onError: () => {
      isDown = false
    },
  })
  await until(async () => (await left()) === 0)
  await running.stop()
})
