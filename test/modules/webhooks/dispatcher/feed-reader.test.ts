import { expect, test } from 'vitest'
import type { QueuedDelivery } from '../../../../src/modules/webhooks/dispatcher/attempt.ts'
import { createFeedCache, createFeedReader } from '../../../../src/modules/webhooks/dispatcher/feed-reader.ts'
import { createDeliveryQueue } from '../../../../src/modules/webhooks/dispatcher/queue.ts'
import { recordAttempts } from '../../../../src/modules/webhooks/dispatcher/record-attempts.ts'
import { everyEngine } from '../../../support/app.ts'
import { dueTime } from '../../../support/times.ts'
import { startWorld } from './support/world.ts'

test.each(everyEngine)(
  'on %s, a read of the feed waits until the previous read has ended, even if the previous one fails',
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
    const reader = createFeedReader({
      context,
      endpoint: await stored(endpointId),
      queue,
      feed,
      latest,
      isStopped: () => false,
    })
    await expect(reader.read()).rejects.toThrow('the look failed')
    expect(queue.takeNext()).toBeNull()
    expect(putOff).toEqual([2])
  },
)
