import { describe, expect, test } from 'vitest'
import { insertRow } from '../../../../src/database/query.ts'
import { eventId } from '../../../../src/modules/outbox/event.ts'
import { eventsAfter } from '../../../../src/modules/outbox/repository.ts'
import { everyApi } from '../../../support/api-clients.ts'
import type { App, Setup } from '../../../support/app.ts'
import { everyEngine, everyEngineAndWorkers, startApp } from '../../../support/app.ts'
import { readStoredRows } from '../../../support/stored.ts'
import { dueTime } from '../../../support/times.ts'
import { ask, log, modeOn } from './webhook-apis.ts'

const url = 'https://example.com/webhooks'
const start = Date.parse('2026-03-02T09:30:00.000Z')
const minute = 60_000

const insertDelivery = insertRow('webhookDeliveries')
const insertAttempt = insertRow('webhookAttempts')

/** Creates an endpoint with six events, ten minutes apart, and the results of the first five. */
async function startDelivered(engine: Setup) {
  let nowMs = start
  const app = await startApp(engine, { mode: modeOn(engine), clock: () => nowMs })
  const { endpoint } = await ask('rest', app, 'createWebhookEndpoint', { url })
  for (let i = 0; i < 6; i++) {
    await app.customer()
    nowMs += 10 * minute
  }
  const { id: merchantId } = app.merchant
  const events = await eventsAfter(app.db, { merchantId, after: 0, limit: 10 })
  const endpointId = endpoint.id
  const statuses = ['delivered', 'exhausted', 'delivered', 'pending', 'delivered'] as const
  await app.db.write(
    async (tx) => {
      for (const [i, status] of statuses.entries()) {
        const { sequence, objectId } = events[i] as (typeof events)[0]
        const nextAttemptAt = status === 'pending' ? dueTime(start + 1_000_000_000) : null
        const key = { merchantId, endpointId, sequence }
        const createdAt = new Date(start).toISOString()
        await insertDelivery(tx, { ...key, objectId, status, attempts: 2, attemptsBefore: 0, nextAttemptAt, createdAt })
        const attemptedAt = new Date(start + minute).toISOString()
        const failed = { ...key, attempt: 1, attemptedAt, durationMs: 7, status: null, answer: null, error: 'refused' }
        await insertAttempt(tx, failed)
        await insertAttempt(tx, { ...failed, attempt: 2, status: 200, answer: `ok ${sequence}`, error: null })
      }
    },
    { merchantId },
  )
  // Sets the endpoint's cursor, as the dispatcher would.
  await ask('rest', app, 'enableWebhookEndpoint', { webhookId: endpointId, after: 5 })
  const stored = async () =>
    ((await readStoredRows(app)).webhook_deliveries ?? [])
      .map((row) => JSON.parse(row))
      .sort((a, b) => a.sequence - b.sequence)
  const idOf = (sequence: number) => eventId(events[sequence - 1] as (typeof events)[0])
  return { app, webhookId: endpointId as string, stored, idOf, at: (ms: number) => new Date(start + ms).toISOString() }
}

const sequencesOf = (items: readonly { sequence: number }[]) => items.map(({ sequence }) => sequence)

describe.each(everyApi.flatMap((apiName) => everyEngine.map((engine) => [apiName, engine] as const)))(
  'the delivery log of an endpoint through %s on %s',
  (apiName, engine) => {
    test('the delivery log lists each event with its attempts, newest first', async () => {
      const { app, webhookId, idOf } = await startDelivered(engine)
      const { items, next } = await log(apiName, app, webhookId)
      expect([sequencesOf(items), next]).toEqual([[5, 4, 3, 2, 1], null])
      expect(items[1]).toEqual({
        ...{ eventId: idOf(4), eventType: 'customer.created', sequence: 4, status: 'pending' },
        nextAttemptAt: expect.stringMatching(/^2026-/),
        attempts: [
          { attemptedAt: '2026-03-02T09:31:00.000Z', durationMs: 7, status: null, error: 'refused', answer: null },
          { attemptedAt: '2026-03-02T09:31:00.000Z', durationMs: 7, status: 200, error: null, answer: 'ok 4' },
        ],
      })
    })

    test('the delivery log lists the latest attempts of an event that was resent repeatedly', async () => {
      const { app, webhookId } = await startDelivered(engine)
      const { id: merchantId } = app.merchant
      const objectId = merchantId
      await app.db.write(
        async (tx) => {
          const key = { merchantId, endpointId: webhookId, sequence: 6 }
          const time = new Date(start).toISOString()
          const delivery = { ...key, objectId, status: 'delivered', attempts: 25, attemptsBefore: 24 } as const
          await insertDelivery(tx, { ...delivery, nextAttemptAt: null, createdAt: time })
          for (let attempt = 1; attempt <= 25; attempt++) {
            const answered = { durationMs: attempt, status: 200, answer: '', error: null }
            await insertAttempt(tx, { ...key, attempt, attemptedAt: time, ...answered })
          }
        },
        { merchantId },
      )
      const { items } = await log(apiName, app, webhookId)
      const durations = items[0].attempts.map(({ durationMs }: { durationMs: number }) => durationMs)
      expect(durations).toEqual(Array.from({ length: 20 }, (_, index) => index + 6))
    })

    test('the delivery log continues after a cursor, and filters events by status', async () => {
      const { app, webhookId } = await startDelivered(engine)
      const parts = []
      let before: unknown = null
      do {
        const { items, next } = await log(apiName, app, webhookId, { first: 2, before })
        parts.push(sequencesOf(items))
        before = next
      } while (before !== null)
      expect(parts).toEqual([[5, 4], [3, 2], [1]])
      const delivered = await log(apiName, app, webhookId, { status: 'delivered', first: 2 })
      expect(sequencesOf(delivered.items)).toEqual([5, 3])
      const rest = await log(apiName, app, webhookId, { status: 'delivered', first: 2, before: delivered.next })
      expect([sequencesOf(rest.items), rest.next]).toEqual([[1], null])
    })
  },
)

describe.each(everyEngine)('the delivery log of an endpoint on %s', (engine) => {
  test('has a total count, can be read backwards, and can be filtered by event time', async () => {
    const { app, webhookId, at } = await startDelivered(engine)
    const part = async (args: string) => {
      const query = `query($id: ID!) { webhookEndpoint(id: $id) { deliveries${args} { totalCount nodes { sequence } } } }`
      const { data, errors } = await app.graphql(query, { id: webhookId })
      expect(errors).toEqual([])
      const { totalCount, nodes } = data.webhookEndpoint.deliveries
      return [totalCount, sequencesOf(nodes)]
    }
    expect(await part('(last: 2)')).toEqual([5, [2, 1]])
    expect(await part('(filter: { status: DELIVERED })')).toEqual([3, [5, 3, 1]])
    expect(await part(`(filter: { createdFrom: "${at(10 * minute)}" })`)).toEqual([4, [5, 4, 3, 2]])
    expect(await part(`(filter: { createdBefore: "${at(10 * minute)}" })`)).toEqual([1, [1]])
    expect(await part(`(filter: { createdFrom: "${at(100 * minute)}" })`)).toEqual([0, []])
  })

  test('rejects an invalid cursor, status or limit, and an endpoint of another merchant', async () => {
    const { app, webhookId } = await startDelivered(engine)
    const get = async (query: string, key = app.merchant.apiKey) =>
      (await app.rest('GET', `/api/webhooks/${webhookId}/deliveries${query}`, { key })).body.error
    expect(
      (await get('?before=x&status=lost&limit=0')).details.fields.map(({ field }: { field: string }) => field),
    ).toEqual(['status', 'before', 'limit'])
    expect((await get('', (await app.otherMerchant()).apiKey)).code).toBe('RESOURCE_NOT_FOUND')
  })
})

describe.each(everyApi.flatMap((apiName) => everyEngineAndWorkers.map((engine) => [apiName, engine] as const)))(
  'a resend of events through %s on %s',
  (apiName, engine) => {
    const replay = async (app: App, input: object) => ask(apiName, app, 'replayWebhookEvents', input as never)

    test('a resend restarts the retry schedule of an event and keeps the event’s earlier attempts', async () => {
      const { app, webhookId, stored, idOf } = await startDelivered(engine)
      const before = await stored()
      for (const sequence of [2, 6]) expect((await replay(app, { webhookId, eventId: idOf(sequence) })).code).toBeNull()
      const due = String(start + 60 * minute)
      const after = await stored()
      expect(after).toMatchObject([
        before[0],
        { ...before[1], status: 'pending', attempts: '2', attempts_before: '2', next_attempt_at: expect.anything() },
        ...before.slice(2),
        { sequence: '6', status: 'pending', attempts: '0', attempts_before: '0' },
      ])
      expect([String(after[1].next_attempt_at), String(after[5].next_attempt_at)]).toEqual([due, due])
      const { items } = await log(apiName, app, webhookId)
      expect(items[4 /* the second event */].attempts).toHaveLength(2)
    })

    test('a resend includes all events after a sequence number or since a time, and all pending events', async () => {
      const { app, webhookId, at } = await startDelivered(engine)
      const sentUpTo = async (input: object) => (await replay(app, { webhookId, ...input })).endpoint.sentUpTo
      expect(await sentUpTo({ after: 6 })).toBe(5)
      // A minute earlier, the tolerated clock skew.
      expect(await sentUpTo({ since: at(30 * minute) })).toBe(3)
      expect(await sentUpTo({ since: at(100 * minute) })).toBe(3)
      expect(await sentUpTo({ after: 2 })).toBe(2)
      expect(await sentUpTo({ since: '2020-01-01T00:00:00Z' })).toBe(0)
    })

    test('a resend is rejected for unknown events and for event types that the endpoint’s format does not support', async () => {
      const { app, webhookId, idOf, stored } = await startDelivered(engine)
      const other = (await ask('rest', app, 'createWebhookEndpoint', { url })).endpoint.id
      await ask('rest', app, 'testWebhookEndpoint', { webhookId: other })
      const [test] = await eventsAfter(app.db, { merchantId: app.merchant.id, after: 6, limit: 1 })
      const before = await stored()
      const wrong = idOf(1).replace(/^evt_./, 'evt_f')
      for (const eventId_ of ['evt_1', 'x', wrong, eventId(test as NonNullable<typeof test>)]) {
        expect((await replay(app, { webhookId, eventId: eventId_ })).code).toBe('RESOURCE_NOT_FOUND')
      }
      await ask('rest', app, 'updateWebhookEndpoint', { webhookId, format: 'stablestack' })
      expect(await replay(app, { webhookId, eventId: idOf(1) })).toMatchObject({
        code: 'INVALID_INPUT',
        fields: ['eventId'],
      })
      expect((await replay(app, { webhookId })).fields).toEqual(['eventId'])
      expect((await replay(app, { webhookId, after: 1, since: '2020-01-01T00:00:00Z' })).fields).toEqual(['since'])
      expect((await replay(app, { webhookId, after: 99 })).fields).toEqual(['after'])
      expect(await stored()).toEqual(before)
    })

    test('a pending resend becomes exhausted when the endpoint is resumed from the latest event', async () => {
      const { app, webhookId, stored } = await startDelivered(engine)
      const [, , , pending] = await stored()
      expect(pending).toMatchObject({ sequence: '4', status: 'pending' })
      expect(Number(pending.next_attempt_at)).toBe(start + 60 * minute)
      await ask(apiName, app, 'enableWebhookEndpoint', { webhookId, from: 'now' })
      expect((await stored())[3]).toMatchObject({ sequence: '4', status: 'exhausted', next_attempt_at: null })
    })
  },
)
