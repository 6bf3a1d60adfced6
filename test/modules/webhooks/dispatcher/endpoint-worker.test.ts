import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { unavailable } from '../../../../src/core/errors.ts'
import { createEndpointWorker } from '../../../../src/modules/webhooks/dispatcher/endpoint-worker.ts'
import { createFeedCache } from '../../../../src/modules/webhooks/dispatcher/feed-reader.ts'
import { recordAttempts } from '../../../../src/modules/webhooks/dispatcher/record-attempts.ts'
import { deleteWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/delete-webhook-endpoint.ts'
import { replayWebhookEvents } from '../../../../src/modules/webhooks/endpoints/replay-webhook-events.ts'
import { storeWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/repository.ts'
import type { Sender } from '../../../../src/modules/webhooks/transport/send.ts'
import type { Mode, Perform, Service } from '../../../../src/operations/context.ts'
import { createContext } from '../../../../src/operations/context.ts'
import type { Engine } from '../../../support/app.ts'
import { everyEngine } from '../../../support/app.ts'
import { perform } from '../../../support/perform.ts'
import { dueTime } from '../../../support/times.ts'
import { everyWorld, hour, minute, second, startWorld } from './support/world.ts'

const startTime = Date.parse('2026-03-02T09:00:00.000Z')

/** A point at which the test can hold the worker. */
function createGate() {
  let held: PromiseWithResolvers<void> | null = null
  let arrivals = 0
  return {
    pass: async () => {
      arrivals++
      await held?.promise
    },
    arrivals: () => arrivals,
    hold: () => {
      held = Promise.withResolvers()
    },
    release: () => {
      held?.resolve()
      held = null
    },
  }
}

/** Creates an endpoint. The test starts the worker, starts attempts and responds to them. */
async function startEndpoint(engine: Engine, mode: Mode = 'live', options: object = {}) {
  const world = await startWorld(engine, mode)
  const { app, endpoint, events, stored, nowhere } = world
  const endpointId = await endpoint(nowhere, options)
  const { merchantId } = app.context()

  /** Records failed first attempts of all events, each with its due time, and moves the cursor past them. */
  async function fail(dueTimes: readonly number[]): Promise<void> {
    const times = { happenedAt: '2026-03-02T09:00:00.000Z', attemptedAt: '2026-03-02T09:00:00.000Z', durationMs: 1 }
    const failed = { status: 500, answer: null, error: null, outcome: 'pending' } as const
    const attempted = (await events()).map(({ sequence, objectId }, place) => ({
      ...{ sequence, objectId, storedAttempts: null, attemptsInSchedule: 0, ...times, ...failed },
      nextAttemptAt: dueTime(dueTimes[place] as number),
    }))
    const cursor = { from: 0, to: attempted.length }
    await recordAttempts(app.context(), { endpointId, attempted, waiting: [], cursor, isGone: false })
  }

  async function startWorker() {
    const attempts: { readonly sequence: number; readonly respond: (status: number) => void }[] = []
    const counts = { ready: 0, changed: 0, dueReads: 0, feedReads: 0, opened: 0 }
    const faults: unknown[] = []
    const messageReads: number[] = []
    const [recording, readingMessages] = [createGate(), createGate()]
    const failures = { isDown: false, isFeedDown: false }
    let running = 0
    const run = async <Result>(operation: () => Result | Promise<Result>): Promise<Result> => {
      running++
      try {
        return await operation()
      } finally {
        running--
      }
    }
    const execute: Service['db']['execute'] = async (query, params) => {
      if ('now' in params && 'limit' in params) counts.dueReads++
      if ('after' in params && 'limit' in params) counts.feedReads++
      const rows = await run(() => app.db.execute(query, params))
      if ('sequences' in params && !('endpointId' in params)) {
        messageReads.push((params.sequences as number[]).length)
        await readingMessages.pass()
      }
      return rows as never
    }
    const performs: Perform = async (operation, context, input) => {
      await recording.pass()
      if (failures.isDown) throw unavailable()
      return run(() => operation(context, input))
    }
    const open: Service['secrets']['open'] = (...sealed) => {
      counts.opened++
      return app.service.secrets.open(...sealed)
    }
    const secrets = { ...app.service.secrets, open }
    const service: Service = { ...app.service, secrets, db: { ...app.db, execute }, perform: performs }
    const send: Sender['send'] = (_url, _request, message) =>
      new Promise((resolve) => {
        const result = { error: null, durationMs: 1, retryAfter: null, answer: null }
        attempts.push({ sequence: message?.sequence ?? 0, respond: (status) => resolve({ status, ...result }) })
      })
    let latest = 0
    const context = createContext(service, app.merchant.id)
    const worker = createEndpointWorker(await stored(endpointId), {
      context,
      sender: { send, close: () => {} },
      latest: () => {
        if (failures.isFeedDown) throw unavailable()
        return latest
      },
      feed: createFeedCache(context),
      onReady: () => counts.ready++,
      onChanged: () => {
        counts.changed++
        worker.drain()
      },
      onError: (fault) => faults.push(fault),
      random: () => 0.5,
    })
    onTestFinished(() => void worker.drain())

    /** Waits until the worker neither runs a query nor continues by itself; it may be held at a gate. */
    async function settle(): Promise<void> {
      for (let idleTurns = 0; idleTurns < 10; idleTurns++) {
        if (running > 0) {
          idleTurns = 0
          await delay(1)
        }
        await nextTurn()
      }
    }

    return {
      ...{ worker, attempts, counts, faults, messageReads, recording, readingMessages, failures, settle },
      poll: async () => {
        latest = (await events()).length
        worker.poll()
        await settle()
      },
      tick: async () => {
        worker.tick()
        await settle()
      },
      /** Starts all attempts that can start, and returns their sequences. */
      start: () => {
        const before = attempts.length
        while (worker.startAttempt());
        return attempts.slice(before).map(({ sequence }) => sequence)
      },
      /** Responds to an attempt, and waits until its outcome is recorded or held. */
      respond: async (sequence: number, status: number) => {
        attempts.findLast((attempt) => attempt.sequence === sequence)?.respond(status)
        await settle()
      },
    }
  }

  return {
    ...world,
    ...{ endpointId, fail, startWorker },
    change: async (customerId: string, count = 1) => {
      for (let changes = 0; changes < count; changes++) await world.change(customerId)
    },
    /** Disables the endpoint because of failures, so that its next attempt is a probe. */
    disable: async () => {
      const row = await stored(endpointId)
      const disabled = {
        status: 'disabled',
        disabledReason: 'failing',
        probeAt: new Date(startTime).toISOString(),
      } as const
      await app.db.write((tx) => storeWebhookEndpoint(tx, { ...row, ...disabled }), { merchantId })
    },
  }
}

describe.each(everyWorld)('the worker of an endpoint on %s in %s', (engine, mode) => {
  test('does nothing while there is nothing to send', async () => {
    const { startWorker, elapse } = await startEndpoint(engine, mode)
    const { poll, tick, counts, recording } = await startWorker()
    await poll()
    const { ready, dueReads, feedReads } = counts
    expect(ready).toBe(1)
    elapse(minute)
    for (let ticks = 0; ticks < 3; ticks++) await tick()
    expect(counts).toMatchObject({ ready, dueReads, feedReads })
    expect(recording.arrivals()).toBe(0)
  })

  test('reads its retries when they are due, and in the sandbox each second because the clock can be advanced', async () => {
    const { startWorker, customers, pass } = await startEndpoint(engine, mode)
    await customers(2)
    const { poll, tick, start, respond, counts } = await startWorker()
    await poll()
    expect(start()).toEqual([1, 2])
    await respond(1, 200)
    await respond(2, 500)
    expect(counts.dueReads).toBe(1)
    await tick()
    await tick()
    expect(counts.dueReads).toBe(mode === 'sandbox' ? 3 : 1)
    pass(6 * second)
    await tick()
    await tick()
    if (mode === 'live') expect(counts.dueReads).toBe(2)
    const { ready } = counts
    await tick()
    expect(counts.ready).toBeGreaterThan(ready)
    expect(start()).toEqual([2])
  })
})

describe.each(everyEngine)('the worker of an endpoint on %s', (engine) => {
  test('continues to read the feed until its end without another poll', async () => {
    const { app, startWorker, changes, stored, endpointId } = await startEndpoint(engine, 'live', {
      types: ['wallet.created'],
    })
    await changes(699, await app.customer())
    const { poll, worker, counts } = await startWorker()
    await poll()
    expect(counts.feedReads).toBe(3)
    await worker.drain()
    expect((await stored(endpointId)).cursor).toBe(700)
  })

  test('sends a waiting event as soon as the earlier event is delivered, even if an event of another object fails at that time', async () => {
    const { app, startWorker, change, deliveries, endpointId, pass } = await startEndpoint(engine)
    const customer = await app.customer()
    await change(customer)
    const { poll, start, respond, attempts, recording, settle } = await startWorker()
    await poll()
    expect(start()).toEqual([1])
    await respond(1, 500)
    // The second event is stored as waiting without a further attempt.
    expect(start()).toEqual([])
    await settle()
    expect((await deliveries(endpointId)).get(2)?.status).toBe('pending')
    await app.customer()
    pass(6 * second)
    await poll()
    expect(start().sort()).toEqual([1, 3])
    const recorded = recording.arrivals()
    for (const { sequence, respond } of attempts.slice(1)) respond(sequence === 1 ? 200 : 500)
    await settle()
    expect(recording.arrivals()).toBe(recorded + 1)
    expect(start()).toEqual([2])
  })

  test('reads at most 16 due deliveries at a time, and reads no delivery twice', async () => {
    const { startWorker, customers, fail } = await startEndpoint(engine)
    await customers(19)
    await fail(Array(19).fill(startTime))
    const { poll, start, worker, messageReads } = await startWorker()
    await poll()
    await poll()
    expect(messageReads).toEqual([16])
    expect(worker.startAttempt()).toBe(true)
    await poll()
    // The attempt in flight is not yet recorded.
    expect(messageReads).toEqual([16, 4])
    expect(start()).toHaveLength(1)
  })

  test('sends a delivery once if the delivery is recorded while due deliveries are read', async () => {
    const { startWorker, customers, fail, pass } = await startEndpoint(engine)
    await customers(2)
    await fail([startTime, startTime + minute])
    const { poll, tick, start, respond, readingMessages, settle } = await startWorker()
    await poll()
    expect(start()).toEqual([1])
    pass(minute)
    readingMessages.hold()
    const reads = readingMessages.arrivals()
    await tick()
    expect(readingMessages.arrivals()).toBe(reads + 1)
    await respond(1, 200)
    readingMessages.release()
    await settle()
    expect(start()).toEqual([2])
  })

  test('sends one event as a probe, although no retry is due', async () => {
    const { startWorker, customers, fail, disable } = await startEndpoint(engine)
    await customers(2)
    await fail([startTime + hour, startTime + hour])
    await disable()
    const { poll, start, respond, recording, attempts, counts, settle } = await startWorker()
    await poll()
    expect(start()).toHaveLength(1)
    recording.hold()
    await respond(attempts[0]?.sequence as number, 500)
    expect(start()).toEqual([])
    recording.release()
    await settle()
    await poll()
    expect([start(), counts.changed]).toEqual([[], 0])
  })

  test('is replaced after a successful probe', async () => {
    const { startWorker, customers, disable } = await startEndpoint(engine)
    await customers(1)
    await disable()
    const { poll, start, respond, counts } = await startWorker()
    await poll()
    expect(start()).toEqual([1])
    await respond(1, 200)
    expect(counts.changed).toBe(1)
  })

  test('starts further attempts while outcomes are being recorded', async () => {
    const { startWorker, customers } = await startEndpoint(engine)
    await customers(3)
    const { poll, start, respond, recording, counts } = await startWorker()
    await poll()
    expect(start()).toEqual([1, 2])
    recording.hold()
    const { ready } = counts
    await respond(1, 200)
    expect(counts.ready).toBe(ready + 1)
    expect(start()).toEqual([3])
    recording.release()
  })

  test('continues with the next event of an object although reading the feed fails', async () => {
    const { app, startWorker, change } = await startEndpoint(engine)
    await change(await app.customer())
    const { poll, start, respond, worker, recording, failures, faults, counts, settle } = await startWorker()
    await poll()
    expect(start()).toEqual([1])
    failures.isFeedDown = true
    worker.poll()
    await settle()
    expect(faults).toHaveLength(1)
    recording.hold()
    await respond(1, 200)
    const { ready } = counts
    recording.release()
    await settle()
    expect(counts.ready).toBeGreaterThan(ready)
    expect(start()).toEqual([2])
  })

  test('is drained only after the outcomes of all attempts in flight are recorded', async () => {
    const { startWorker, customers, deliveries, endpointId } = await startEndpoint(engine)
    await customers(2)
    const { poll, start, respond, recording, worker } = await startWorker()
    await poll()
    expect(start()).toEqual([1, 2])
    recording.hold()
    await respond(1, 200)
    const drained = worker.drain()
    await respond(2, 200)
    recording.release()
    await drained
    expect([...(await deliveries(endpointId)).values()].map(({ status }) => status)).toEqual(['delivered', 'delivered'])
  })

  test.each([
    ['its endpoint is deleted', deleteWebhookEndpoint, {}],
    ['its owner requests earlier events again', replayWebhookEvents, { after: 0 }],
  ] as const)('is replaced if %s during an attempt', async (_, operation, input) => {
    const { app, startWorker, customers, endpointId: webhookId } = await startEndpoint(engine)
    await customers(2)
    const { poll, start, respond, counts, faults } = await startWorker()
    await poll()
    expect(start()).toEqual([1, 2])
    await respond(1, 200)
    await perform(operation as typeof replayWebhookEvents, app.context(), { webhookId, ...input })
    await respond(2, 200)
    expect(counts.changed).toBe(1)
    expect(faults).toEqual([])
  })

  test('records nothing more after it has drained, even if its last write failed', async () => {
    const { app, startWorker } = await startEndpoint(engine, 'live', { types: ['wallet.created'] })
    await app.customer()
    const { poll, tick, worker, failures, faults, recording } = await startWorker()
    await poll()
    failures.isDown = true
    await worker.drain()
    expect(faults).toHaveLength(1)
    worker.poll()
    await tick()
    expect(recording.arrivals()).toBe(1)
  })

  test('decrypts its secret when it starts, and again after a minute', async () => {
    const { startWorker, customers, elapse } = await startEndpoint(engine)
    await customers(1)
    // The process has run for 40 seconds.
    elapse(40 * second - performance.now())
    const { poll, start, counts } = await startWorker()
    await poll()
    expect(start()).toEqual([1])
    elapse(10 * second)
    await poll()
    expect(counts.opened).toBe(1)
    elapse(51 * second)
    await poll()
    expect(counts.opened).toBe(2)
  })
})
