import { describe, expect, test } from 'vitest'
import type { AttemptRecord, AttemptReport } from '../../../../src/modules/webhooks/dispatcher/record-attempts.ts'
import { recordAttempts } from '../../../../src/modules/webhooks/dispatcher/record-attempts.ts'
import { deliveriesBySequence, storeDelivery } from '../../../../src/modules/webhooks/dispatcher/repository.ts'
import { storeWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/repository.ts'
import type { StoredWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/webhook-endpoint.ts'
import type { Service } from '../../../../src/operations/context.ts'
import type { Engine } from '../../../support/app.ts'
import { everyEngine } from '../../../support/app.ts'
import { dueTime } from '../../../support/times.ts'
import { day, minute, startWorld } from './support/world.ts'

const start = Date.parse('2026-03-02T09:00:00.000Z')
const at = (ms: number) => new Date(start + ms).toISOString()
const [soon, later] = [dueTime(start + 7), dueTime(start + 99)]

type Row = Pick<Parameters<typeof storeDelivery>[1], 'status' | 'attempts' | 'attemptsBefore' | 'nextAttemptAt'>

/** Creates a merchant with an endpoint and unsent events, each of another customer. */
async function startStored(engine: Engine, count = 1) {
  const world = await startWorld(engine)
  const { app, endpoint, customers, nowhere, events } = world
  const endpointId = await endpoint(nowhere)
  await customers(count)
  const { id: merchantId } = app.merchant
  const objectIds = (await events()).map(({ objectId }) => objectId)
  const failed = { status: 500, answer: 'no', error: null, outcome: 'pending', nextAttemptAt: soon } as const

  function attempted(sequence: number, change: Partial<AttemptRecord> = {}): AttemptRecord {
    const objectId = objectIds[sequence - 1] as string
    const times = { happenedAt: at(0), attemptedAt: at(5), durationMs: 3 }
    return { sequence, objectId, ...times, storedAttempts: null, attemptsInSchedule: 0, ...failed, ...change }
  }

  return {
    ...world,
    objectIds,
    attempted,
    delivered: (sequence: number) => attempted(sequence, { status: 200, outcome: 'delivered', nextAttemptAt: null }),
    record: (change: Partial<AttemptReport>) =>
      recordAttempts(app.context(), {
        ...{ endpointId, attempted: [], waiting: [], cursor: { from: 0, to: 0 }, isGone: false },
        ...change,
      }),
    store: (sequence: number, row: Row, objectId = objectIds[sequence - 1] as string) =>
      app.db.write((tx) => storeDelivery(tx, { merchantId, endpointId, sequence, objectId, createdAt: at(0), ...row })),
    rows: async (...sequences: number[]) => {
      const deliveries = await deliveriesBySequence(app.db, { merchantId, endpointId, sequences })
      return deliveries.sort((one, other) => one.sequence - other.sequence)
    },
    endpointNow: () => world.stored(endpointId),
    change: async (change: Partial<StoredWebhookEndpoint>) => {
      const endpoint = await world.stored(endpointId)
      await app.db.write((tx) => storeWebhookEndpoint(tx, { ...endpoint, ...change }), { merchantId })
    },
  }
}

const pending = (attempts: number, attemptsBefore = 0): Row => ({
  status: 'pending',
  attempts,
  attemptsBefore,
  nextAttemptAt: later,
})
const over = (status: 'delivered' | 'exhausted', attempts: number, attemptsBefore = 0): Row => ({
  status,
  attempts,
  attemptsBefore,
  nextAttemptAt: null,
})
const [delivers, fails, givesUp] = [
  { outcome: 'delivered', nextAttemptAt: null },
  { outcome: 'pending', nextAttemptAt: soon },
  { outcome: 'exhausted', nextAttemptAt: null },
] as const

describe.each(everyEngine)('recordAttempts on %s stores an attempt', (engine) => {
  test.each<[string, Row | null, Partial<AttemptRecord>, { isMoved?: boolean }, Row]>([
    ['that delivers a new event', null, delivers, {}, over('delivered', 1)],
    ['that fails for a new event', null, fails, {}, { ...pending(1), nextAttemptAt: soon }],
    ['that was the last attempt for a new event', null, givesUp, {}, over('exhausted', 1)],
    [
      'that delivers an event from which the cursor has moved away',
      null,
      delivers,
      { isMoved: true },
      over('delivered', 1),
    ],
    [
      'that fails for an event from which the cursor has moved away',
      null,
      fails,
      { isMoved: true },
      over('exhausted', 1),
    ],
    [
      'that was the last attempt for an event from which the cursor has moved away',
      null,
      givesUp,
      { isMoved: true },
      over('exhausted', 1),
    ],
    [
      'that fails for an event that is resent',
      over('delivered', 2),
      fails,
      {},
      { ...pending(3, 2), nextAttemptAt: soon },
    ],
    [
      'that delivers an event on a retry',
      pending(2),
      { ...delivers, storedAttempts: 2, attemptsInSchedule: 2 },
      {},
      over('delivered', 3),
    ],
    [
      'that fails on a retry',
      pending(3, 1),
      { ...fails, storedAttempts: 3, attemptsInSchedule: 2 },
      {},
      { ...pending(4, 1), nextAttemptAt: soon },
    ],
    [
      'that delivers an event on a retry although the cursor has moved',
      pending(2),
      { ...delivers, storedAttempts: 2, attemptsInSchedule: 2 },
      { isMoved: true },
      over('delivered', 3),
    ],
    [
      'but keeps the state of a newer attempt',
      pending(2),
      { ...delivers, storedAttempts: 1, attemptsInSchedule: 1 },
      {},
      pending(3),
    ],
    [
      'but keeps the state of a newer resend request',
      pending(2, 2),
      { ...delivers, storedAttempts: 2, attemptsInSchedule: 2 },
      {},
      pending(3, 2),
    ],
    [
      'but keeps the state of a later schedule with equally many attempts',
      pending(5, 3),
      { ...delivers, storedAttempts: 2, attemptsInSchedule: 2 },
      {},
      pending(6, 3),
    ],
    ['but keeps the state of a first attempt that is already stored', pending(1), delivers, {}, pending(2)],
    [
      'but keeps an exhausted delivery exhausted',
      over('exhausted', 2),
      { ...delivers, storedAttempts: 2, attemptsInSchedule: 2 },
      {},
      over('exhausted', 3),
    ],
    [
      'but keeps a completed delivery completed',
      over('delivered', 2, 1),
      { ...fails, storedAttempts: 1, attemptsInSchedule: 1 },
      {},
      over('delivered', 3, 1),
    ],
  ])('%s', async (_, row, change, { isMoved = false }, expected) => {
    const { record, attempted, store, rows } = await startStored(engine)
    if (row) await store(1, row)
    const from = isMoved ? 5 : 0
    expect(await record({ attempted: [attempted(1, change)], cursor: { from, to: 1 } })).toMatchObject({ isMoved })
    expect(await rows(1)).toEqual([{ sequence: 1, ...expected }])
  })

  test('that the delivery log lists among the attempts of the event', async () => {
    const { record, attempted, store, app, endpointNow } = await startStored(engine)
    await store(1, pending(1))
    await record({ attempted: [attempted(1, { storedAttempts: 1, attemptsInSchedule: 1, error: 'timeout: none' })] })
    const { id: webhookId } = await endpointNow()
    const { body } = await app.rest('GET', `/api/webhooks/${webhookId}/deliveries`)
    expect(body.data[0].attempts).toEqual([
      { attempted_at: at(5), duration_ms: 3, status: 500, answer: 'no', error: 'timeout: none' },
    ])
  })
})

describe.each(everyEngine)('on %s, an event that waits for an earlier event of its object', (engine) => {
  const stored = { status: 'pending', attempts: 0, attemptsBefore: 0, nextAttemptAt: null } as const

  test('becomes due when the earlier event is finished, and no later event and no event of another object becomes due then', async () => {
    const { record, attempted, delivered, rows, objectIds, pass, changes } = await startStored(engine, 2)
    const [one, other] = objectIds as [string, string]
    for (const objectId of [one, one, other]) await changes(1, objectId)
    const waiting = [one, one, other].map((objectId, place) => ({ sequence: place + 3, objectId }))
    const failed = [attempted(1), attempted(2)]
    expect(await record({ attempted: failed, waiting })).toMatchObject({
      pending: expect.arrayContaining([one, other]),
    })
    expect(await rows(3, 4, 5)).toEqual([3, 4, 5].map((sequence) => ({ sequence, ...stored })))
    pass(minute)
    const dueAt = dueTime(start + minute)
    const again = { ...delivered(1), storedAttempts: 1, attemptsInSchedule: 1 }
    expect(await record({ attempted: [again] })).toEqual({ isMoved: false, isEnabled: true, pending: [one] })
    expect((await rows(3, 4, 5)).map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([dueAt, null, null])
  })

  test('is not stored if the cursor has moved, because the event will be read again', async () => {
    const { record, rows, objectIds } = await startStored(engine)
    const waiting = [{ sequence: 1, objectId: objectIds[0] as string }]
    expect(await record({ waiting, cursor: { from: 3, to: 4 } })).toMatchObject({ isMoved: true, pending: [] })
    expect(await rows(1)).toEqual([])
  })

  test('restarts the retry schedule if its delivery was finished before', async () => {
    const { record, rows, store, objectIds } = await startStored(engine)
    await store(1, over('delivered', 3))
    await record({ waiting: [{ sequence: 1, objectId: objectIds[0] as string }] })
    // No earlier event of its object exists.
    expect(await rows(1)).toEqual([
      { sequence: 1, ...stored, attempts: 3, attemptsBefore: 3, nextAttemptAt: dueTime(start) },
    ])
  })
})

describe.each(everyEngine)('recordAttempts for an endpoint on %s:', (engine) => {
  const failing = { failures: 19, failingSince: at(-5 * day) }

  test.each<[string, Partial<StoredWebhookEndpoint>, { sent?: readonly (200 | 500)[]; isGone?: boolean }, object]>([
    [
      'it counts consecutive failures since the first failure',
      {},
      { sent: [500, 500] },
      { failures: 2, failingSince: at(5), status: 'enabled' },
    ],
    ['it adds failures to the stored count', failing, { sent: [500] }, { failures: 20, failingSince: at(-5 * day) }],
    [
      'a success resets the count, even between failures',
      failing,
      { sent: [500, 200] },
      { failures: 0, failingSince: null, status: 'enabled' },
    ],
    [
      'twenty failures in five days disable the endpoint and schedule a probe a day later',
      failing,
      { sent: [500] },
      { status: 'disabled', disabledReason: 'failing', probeAt: at(day) },
    ],
    [
      'nineteen failures do not disable the endpoint',
      { ...failing, failures: 18 },
      { sent: [500] },
      { status: 'enabled', disabledReason: null, probeAt: null },
    ],
    [
      'twenty failures in less than five days do not disable the endpoint',
      { ...failing, failingSince: at(-5 * day + 1) },
      { sent: [500] },
      { status: 'enabled', failures: 20 },
    ],
    [
      'one 410 response disables the endpoint permanently',
      {},
      { sent: [500], isGone: true },
      { status: 'disabled', disabledReason: 'gone', probeAt: null, failures: 1 },
    ],
    [
      'a successful probe enables the endpoint',
      { status: 'disabled', disabledReason: 'failing', probeAt: at(0), failures: 30, failingSince: at(-9 * day) },
      { sent: [200] },
      { status: 'enabled', disabledReason: null, probeAt: null, failures: 0 },
    ],
    [
      'a failed probe schedules the next probe a day later',
      { status: 'disabled', disabledReason: 'failing', probeAt: at(0), failures: 30 },
      { sent: [500] },
      { status: 'disabled', disabledReason: 'failing', probeAt: at(day), failures: 31 },
    ],
    [
      'an attempt in flight does not enable an endpoint that its owner has disabled meanwhile',
      { status: 'disabled', disabledReason: 'by_request', failures: 3 },
      { sent: [200] },
      { status: 'disabled', disabledReason: 'by_request', failures: 0, probeAt: null },
    ],
    ['without an attempt only the cursor moves', failing, {}, { ...failing, status: 'enabled' }],
    [
      'without an attempt a probe is not postponed',
      { status: 'disabled', disabledReason: 'failing', probeAt: at(0), failures: 30 },
      {},
      { status: 'disabled', probeAt: at(0), failures: 30 },
    ],
    [
      'without an attempt a disabled endpoint stays disabled',
      { status: 'disabled', disabledReason: 'gone' },
      {},
      { status: 'disabled', disabledReason: 'gone' },
    ],
  ])('%s', async (_, before, { sent = [], isGone = false }, expected) => {
    const { record, attempted, delivered, change, endpointNow, events } = await startStored(engine, 2)
    await change(before)
    const { updatedAt, status } = await endpointNow()
    const outcomes = sent.map((status, place) => (status === 200 ? delivered(place + 1) : attempted(place + 1)))
    const recorded = await record({ attempted: outcomes, isGone, cursor: { from: 0, to: 2 } })
    const after = await endpointNow()
    expect(after).toMatchObject({ ...expected, cursor: 2 })
    expect(recorded?.isEnabled).toBe(after.status === 'enabled')
    if (sent.length === 0) expect(recorded?.pending).toEqual([])
    // The dispatcher reloads the endpoint when this changes.
    const isProbe = before.disabledReason === 'failing'
    expect(after.updatedAt > updatedAt).toBe(after.status !== status || (isProbe && sent.length > 0))
    const disabledEvents = (await events()).filter(({ type }) => type === 'webhook_endpoint.disabled')
    expect(disabledEvents.length).toBe(status === 'enabled' && after.status === 'disabled' ? 1 : 0)
    for (const { objectId, time, data } of disabledEvents) {
      expect([objectId, Number(time)]).toEqual([after.id, Date.parse(after.updatedAt)])
      expect(JSON.stringify(data)).not.toContain('secrets')
    }
  })

  test('two statements run if only the cursor moves', async () => {
    const { app, endpointNow } = await startStored(engine)
    let statements = 0
    const write: Service['db']['write'] = (operation, options) =>
      app.db.write((tx) => {
        const execute: typeof tx.execute = (query, params) => {
          statements++
          return tx.execute(query, params)
        }
        return operation({ ...tx, execute })
      }, options)
    const { id: endpointId } = await endpointNow()
    const report = { endpointId, attempted: [], waiting: [], cursor: { from: 0, to: 1 }, isGone: false }
    await recordAttempts({ ...app.context(), db: { ...app.db, write } }, report)
    expect([statements, (await endpointNow()).cursor]).toEqual([2, 1])
  })

  test('no attempt is recorded after the endpoint is deleted', async () => {
    const { record, attempted, rows, app, endpointNow } = await startStored(engine)
    const { id } = await endpointNow()
    expect((await app.rest('DELETE', `/api/webhooks/${id}`)).status).toBe(200)
    expect(await record({ attempted: [attempted(1)] })).toBeNull()
    expect(await rows(1)).toEqual([])
  })
})
