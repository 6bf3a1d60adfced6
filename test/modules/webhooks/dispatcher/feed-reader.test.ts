import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { unavailable } from '../../../../src/core/errors.ts'
import type { QueuedDelivery } from '../../../../src/modules/webhooks/dispatcher/attempt.ts'
import type { FeedCache } from '../../../../src/modules/webhooks/dispatcher/feed-reader.ts'
import {
  createFeedCache,
  createFeedReader,
  readMessages,
} from '../../../../src/modules/webhooks/dispatcher/feed-reader.ts'
import { createDeliveryQueue } from '../../../../src/modules/webhooks/dispatcher/queue.ts'
import { recordAttempts } from '../../../../src/modules/webhooks/dispatcher/record-attempts.ts'
import type { Service } from '../../../../src/operations/context.ts'
import type { Engine } from '../../../support/app.ts'
import { everyEngine } from '../../../support/app.ts'
import { dueTime } from '../../../support/times.ts'
import { startWorld } from './support/world.ts'

test.each(everyEngine)(
  'on %s, a read of the feed waits until the previous read has ended, even if the previous read fails',
  async (engine) => {
    const { app, endpoint, stored, change, nowhere } = await startWorld(engine)
    const endpointId = await endpoint(nowhere)
    const objectId = await app.customer()
    const times = { happenedAt: '2026-03-02T09:00:00.000Z', attemptedAt: '2026-03-02T09:00:00.000Z', durationMs: 1 }
    const failed = { status: 500, answer: null, error: null, outcome: 'pending', nextAttemptAt: dueTime(1) } as const
    await recordAttempts(app.context(), {
      endpointId,
      attempted: [{ sequence: 1, objectId, storedAttempts: null, attemptsInSchedule: 0, ...times, ...failed }],
      waiting: [],
      cursor: { from: 0, to: 1 },
      isGone: false,
    })
    await change(objectId)
    const putOff: number[] = []
    const queue = createDeliveryQueue<QueuedDelivery>((items) => putOff.push(...items.map(({ sequence }) => sequence)))
    const looks = [2]
    const latest = () => {
      const known = looks.pop()
      if (known === undefined) throw new Error('the look failed')
      return known
    }
    const context = app.context()
    const feed = createFeedCache(context)
    const reader = createFeedReader({ context, endpoint: await stored(endpointId), queue, feed, latest })
    await expect(reader.read()).rejects.toThrow('the look failed')
    expect(queue.takeNext()).toBeNull()
    expect(putOff).toEqual([2])
  },
)

/** Creates an endpoint that subscribes to new customers, and a reader of its feed that only the test calls. */
async function startReader(engine: Engine) {
  const world = await startWorld(engine)
  const { app, endpoint, stored, changes, nowhere } = world
  const webhookId = await endpoint(nowhere, { types: ['customer.created'] })
  const objectId = await app.customer()
  let queries = 0
  const execute: Service['db']['execute'] = (query, params) => {
    queries++
    return app.db.execute(query, params)
  }
  const context = { ...app.context(), db: { ...app.db, execute } }
  const queue = createDeliveryQueue<QueuedDelivery>(() => {})
  const cache = createFeedCache(context)
  const limits: number[] = []
  const feed: FeedCache = (request) => {
    limits.push(request.limit)
    return cache(request)
  }
  let latest = 1
  const reader = createFeedReader({ context, endpoint: await stored(webhookId), queue, feed, latest: () => latest })
  return {
    ...world,
    context,
    reader,
    queue,
    limits,
    queries: () => queries,
    /** Records events to which the endpoint subscribes, and others. */
    record: async (subscribed: number, others: number) => {
      await changes(subscribed, objectId, 'customer.created')
      await changes(others, objectId)
      latest += subscribed + others
    },
    /** Makes the reader expect an event that is not visible yet. */
    announce: () => {
      latest++
    },
    /** Attempts the next open events successfully, one at a time. */
    deliver: (count: number) => {
      for (let delivered = 0; delivered < count; delivered++) {
        const item = queue.takeNext()
        if (item === null) throw new Error('no event is open')
        queue.finish(item)
        queue.markRecorded([item], new Set())
      }
    },
  }
}

describe.each(everyEngine)('the feed reader of an endpoint on %s', (engine) => {
  test('reads 64 events at a time, and 500 events at a time while fewer than one event in eight is for the endpoint', async () => {
    const { reader, record, limits } = await startReader(engine)
    await record(6, 57)
    await record(63, 437)
    await record(8, 56)
    await record(1, 1)
    const hasMore = [await reader.read(), await reader.read(), await reader.read(), await reader.read()]
    expect(limits).toEqual([64, 500, 64, 64])
    expect(hasMore).toEqual([true, true, true, false])
  })

  test('reads again when fewer than 32 events are open, or fewer than 256 if no open event can start', async () => {
    const { reader, record, queue, deliver } = await startReader(engine)
    await record(400, 0)
    const isBehind = [reader.isBehind()]
    await reader.read()
    for (const count of [0, 32, 1]) {
      deliver(count)
      isBehind.push(reader.isBehind())
    }
    expect(isBehind).toEqual([true, false, false, true])
    queue.takeNext()
    expect(queue.takeNext()).toBeNull()
    for (const openCount of [95, 159, 223, 287]) {
      expect(reader.isBehind()).toBe(true)
      await reader.read()
      expect(queue.openCount()).toBe(openCount)
    }
    expect(reader.isBehind()).toBe(false)
  })

  test('reads at most 1,000 events beyond the first open event', async () => {
    const { reader, record, deliver } = await startReader(engine)
    await record(0, 63)
    await record(1, 1_100)
    await reader.read()
    deliver(1)
    for (let reads = 0; reads < 2; reads++) {
      expect(reader.isBehind()).toBe(true)
      await reader.read()
    }
    expect([reader.cursor(), reader.isBehind()]).toEqual([64, false])
    deliver(1)
    expect([reader.cursor(), reader.isBehind()]).toEqual([1_064, true])
  })

  test('runs one query if no event is for the endpoint, and two queries if none of the objects has a pending delivery', async () => {
    const { reader, record, queries } = await startReader(engine)
    await record(0, 63)
    await record(0, 3)
    await reader.read()
    expect(queries()).toBe(2)
    await reader.read()
    expect(queries()).toBe(3)
  })

  test('waits for the next poll if an announced event is not visible yet', async () => {
    const { reader, announce } = await startReader(engine)
    announce()
    expect([await reader.read(), await reader.read()]).toEqual([true, false])
    expect(reader.isBehind()).toBe(true)
  })

  test('runs no query to build the messages of an empty list of deliveries', async () => {
    const { context, queries } = await startReader(engine)
    expect(await readMessages(context, { format: 'standard' }, [])).toEqual(new Map())
    expect(queries()).toBe(0)
  })
})

describe.each(everyEngine)('the feed cache of a merchant on %s', (engine) => {
  const whole = { after: 0, limit: 10, latest: 3 }

  test('shares one read among simultaneous requests for the same events', async () => {
    const { context, record, queries } = await startReader(engine)
    await record(1, 1)
    const feed = createFeedCache(context)
    const [one, same, rest, first] = await Promise.all(
      [whole, whole, { ...whole, after: 1 }, { ...whole, limit: 1 }].map(feed),
    )
    expect(queries()).toBe(3)
    expect([one, same, rest, first].map((batch) => batch?.events.map(({ sequence }) => sequence))).toEqual([
      ...[[1, 2, 3], [1, 2, 3], [2, 3], [1]],
    ])
  })

  test('reads the same events again for a later request, even if the previous read failed', async () => {
    const { app, context, record, queries } = await startReader(engine)
    await record(1, 1)
    const feed = createFeedCache(context)
    await feed(whole)
    await nextTurn()
    await nextTurn()
    await feed(whole)
    expect(queries()).toBe(2)
    let isDown = true
    const execute: Service['db']['execute'] = (query, params) => {
      if (isDown) throw unavailable()
      return app.db.execute(query, params)
    }
    const failing = createFeedCache({ ...context, db: { ...app.db, execute } })
    await expect(failing(whole)).rejects.toThrow()
    isDown = false
    await nextTurn()
    await nextTurn()
    expect((await failing(whole)).events).toHaveLength(3)
  })

  test('shares messages only among endpoints that need the same events in the same format', async () => {
    const { context, record } = await startReader(engine)
    await record(1, 1)
    const { events, toMessages } = await createFeedCache(context)(whole)
    const messages = toMessages(events, 'standard')
    expect(toMessages([...events], 'standard')).toBe(messages)
    const sequences = async (subset: typeof events) =>
      (await toMessages(subset, 'standard')).map(({ sequence }) => sequence)
    expect(await sequences(events)).toEqual([1, 2, 3])
    expect(await sequences(events.slice(1))).toEqual([2, 3])
    expect(toMessages(events, 'stablestack')).not.toBe(messages)
  })
})
