import { describe, expect, test } from 'vitest'
import { toGlobalId } from '../../../src/graphql/schema/global-ids.ts'
import { eventId } from '../../../src/modules/outbox/event.ts'
import { everyApi } from '../../support/api-clients.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { ask } from '../webhooks/endpoints/webhook-doors.ts'
import { pageOf } from './feed.ts'

/** Numbers that no event of a young merchant has: beyond the latest, beyond what a column holds, and beyond what a number is. */
const beyond = [3, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, 9_999_999_999, 2 ** 53 - 1, 2 ** 53, 2 ** 64, 1e300]
const inDigits = (number: number) => BigInt(number).toString()

/** Ids in the form of an event's, whose sequence is that of none. */
const idsBeyond = (app: App) =>
  [3, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, 2 ** 40 - 1].map((sequence) =>
    eventId({ merchantId: app.merchant.id, sequence, time: BigInt(Date.now()) }),
  )

const refusedAfter = {
  status: 400,
  body: { error: { code: 'INVALID_INPUT', details: { fields: [{ field: 'after' }] } } },
}

/** What a subscription answers that does not begin. */
function stream(app: App, query: string, headers: Record<string, string> = {}) {
  const accept = 'text/event-stream, application/json'
  return app.graphql(query, {}, { headers: { accept, ...headers } })
}

describe.each(everyEngine)('a number that no event has is refused on %s', (engine) => {
  async function startWithTwo() {
    const app = await startApp(engine)
    await app.wallet({ balance: '1' })
    return app
  }

  test('where the feed is read after it', async () => {
    const app = await startWithTwo()
    for (const after of beyond.map(inDigits)) {
      for (const more of [
        '',
        '&wait=1',
        '&types=payout.completed',
        '&limit=100',
        '&limit=1&wait=30&types=wallet.created',
      ]) {
        expect(await app.rest('GET', `/api/events?after=${after}${more}`), `${after}${more}`).toMatchObject(
          refusedAfter,
        )
      }
      for (const more of ['', ', first: 100', ', filter: { types: [PAYOUT_COMPLETED] }']) {
        const { errors } = await app.graphql(`{ events(after: "${after}"${more}) { after } }`)
        expect(errors, after).toMatchObject([{ extensions: { code: 'INVALID_INPUT', fields: [{ field: 'after' }] } }])
      }
    }
    // The latest itself is one.
    for (const door of everyApi) expect(await pageOf(door, app, { after: 2 })).toMatchObject({ events: [], after: 2 })
  })

  test('where a stream begins after it, by whatever says so', async () => {
    const app = await startWithTwo()
    const refused = (field: string) => [{ extensions: { code: 'INVALID_INPUT', fields: [{ field }] } }]
    for (const after of beyond.map(inDigits)) {
      const asked = `subscription { eventPublished(after: "${after}") { sequence } }`
      expect((await stream(app, asked)).errors, after).toMatchObject(refused('after'))
      const { errors } = await stream(app, 'subscription { eventPublished { sequence } }', { 'last-event-id': after })
      expect(errors, after).toMatchObject(refused('Last-Event-ID'))
    }
    for (const id of ['-1', '1.5', '0x1', 'evt_1', '9'.repeat(400)]) {
      const { errors } = await stream(app, 'subscription { eventPublished { sequence } }', { 'last-event-id': id })
      expect(errors, id).toMatchObject(refused('Last-Event-ID'))
    }
  })

  test('or not found, where an id tells it', async () => {
    const app = await startWithTwo()
    const [first] = (await pageOf('rest', app)).events
    const theirs = eventId({ merchantId: (await app.otherMerchant()).id, sequence: 1, time: BigInt(Date.now()) })
    for (const id of [...idsBeyond(app), theirs]) {
      const node = toGlobalId('Event', id)
      const { data, errors } = await app.graphql(
        'query($id: ID!, $ids: [ID!]!) { node(id: $id) { id } nodes(ids: $ids) { ... on Event { sequence } } }',
        { id: node, ids: [node, toGlobalId('Event', first?.id ?? '')] },
      )
      expect([id, errors, data]).toEqual([id, [], { node: null, nodes: [null, { sequence: 1 }] }])
    }
  })

  test('where events are sent to an endpoint again, or it goes on after one', async () => {
    const app = await startWithTwo()
    const { endpoint } = await ask('rest', app, 'createWebhookEndpoint', { url: 'http://127.0.0.1:9/' })
    const webhookId = endpoint.id
    const read = () => app.rest('GET', `/api/webhooks/${webhookId}`)
    const before = (await read()).text
    for (const door of everyApi) {
      for (const name of ['replayWebhookEvents', 'enableWebhookEndpoint'] as const) {
        for (const after of beyond) {
          const { code, fields } = await ask(door, app, name, { webhookId, after })
          // What is no Int of GraphQL is refused before anybody knows of fields.
          const faulty = door === 'graphql' && after >= 2 ** 31 ? [] : ['after']
          expect([door, name, after, code, fields]).toEqual([door, name, after, 'INVALID_INPUT', faulty])
        }
      }
      for (const eventId of idsBeyond(app)) {
        const { code } = await ask(door, app, 'replayWebhookEvents', { webhookId, eventId })
        expect([eventId, code]).toEqual([eventId, 'RESOURCE_NOT_FOUND'])
      }
    }
    for (const number of [...beyond.map(inDigits), '0', '-1']) {
      const { status } = await app.rest('GET', `/api/webhooks/${webhookId}/deliveries?before=${number}`)
      expect([number, status]).toEqual([number, number.length < 10 && Number(number) > 0 ? 200 : 400])
    }
    expect((await read()).text).toBe(before)
  })
})
