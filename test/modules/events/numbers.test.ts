import { describe, expect, test } from 'vitest'
import { toGlobalId } from '../../../src/graphql/schema/global-ids.ts'
import { eventId } from '../../../src/modules/outbox/event.ts'
import { everyApi } from '../../support/api-clients.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { ask } from '../webhooks/endpoints/webhook-apis.ts'
import { pageOf } from './feed.ts'

/** Sequence numbers that no event of a new merchant has: beyond the latest, the column's range, and safe integers. */
const unknownSequences = [3, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, 9_999_999_999, 2 ** 53 - 1, 2 ** 53, 2 ** 64, 1e300]
const formatDigits = (number: number) => BigInt(number).toString()

/** Valid event ids with a sequence number that no event has. */
const unknownEventIds = (app: App) =>
  [3, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, 2 ** 40 - 1].map((sequence) =>
    eventId({ merchantId: app.merchant.id, sequence, time: BigInt(Date.now()) }),
  )

const rejectedAfter = {
  status: 400,
  body: { error: { code: 'INVALID_INPUT', details: { fields: [{ field: 'after' }] } } },
}

function stream(app: App, query: string, headers: Record<string, string> = {}) {
  const accept = 'text/event-stream, application/json'
  return app.graphql(query, {}, { headers: { accept, ...headers } })
}

describe.each(everyEngine)('an unknown sequence number on %s', (engine) => {
  async function startWithTwoEvents() {
    const app = await startApp(engine)
    await app.wallet({ balance: '1' })
    return app
  }

  test('is rejected as the start of a feed page', async () => {
    const app = await startWithTwoEvents()
    for (const after of unknownSequences.map(formatDigits)) {
      for (const parameters of [
        '',
        '&wait=1',
        '&types=payout.completed',
        '&limit=100',
        '&limit=1&wait=30&types=wallet.created',
      ]) {
        expect(await app.rest('GET', `/api/events?after=${after}${parameters}`), `${after}${parameters}`).toMatchObject(
          rejectedAfter,
        )
      }
      for (const args of ['', ', first: 100', ', filter: { types: [PAYOUT_COMPLETED] }']) {
        const { errors } = await app.graphql(`{ events(after: "${after}"${args}) { after } }`)
        expect(errors, after).toMatchObject([{ extensions: { code: 'INVALID_INPUT', fields: [{ field: 'after' }] } }])
      }
    }
    for (const api of everyApi) expect(await pageOf(api, app, { after: 2 })).toMatchObject({ events: [], after: 2 })
  })

  test('is rejected as the start of a subscription, both in the argument `after` and in Last-Event-ID', async () => {
    const app = await startWithTwoEvents()
    const rejectionOf = (field: string) => [{ extensions: { code: 'INVALID_INPUT', fields: [{ field }] } }]
    for (const after of unknownSequences.map(formatDigits)) {
      const subscription = `subscription { eventPublished(after: "${after}") { sequence } }`
      expect((await stream(app, subscription)).errors, after).toMatchObject(rejectionOf('after'))
      const { errors } = await stream(app, 'subscription { eventPublished { sequence } }', { 'last-event-id': after })
      expect(errors, after).toMatchObject(rejectionOf('Last-Event-ID'))
    }
    for (const id of ['-1', '1.5', '0x1', 'evt_1', '9'.repeat(400)]) {
      const { errors } = await stream(app, 'subscription { eventPublished { sequence } }', { 'last-event-id': id })
      expect(errors, id).toMatchObject(rejectionOf('Last-Event-ID'))
    }
  })

  test('in an event id makes `node` and `nodes` return null', async () => {
    const app = await startWithTwoEvents()
    const [first] = (await pageOf('rest', app)).events
    const foreignEventId = eventId({
      merchantId: (await app.otherMerchant()).id,
      sequence: 1,
      time: BigInt(Date.now()),
    })
    for (const id of [...unknownEventIds(app), foreignEventId]) {
      const node = toGlobalId('Event', id)
      const { data, errors } = await app.graphql(
        'query($id: ID!, $ids: [ID!]!) { node(id: $id) { id } nodes(ids: $ids) { ... on Event { sequence } } }',
        { id: node, ids: [node, toGlobalId('Event', first?.id ?? '')] },
      )
      expect([id, errors, data]).toEqual([id, [], { node: null, nodes: [null, { sequence: 1 }] }])
    }
  })

  test('is rejected by replayWebhookEvents and enableWebhookEndpoint, and an out-of-range number also by the delivery list', async () => {
    const app = await startWithTwoEvents()
    const { endpoint } = await ask('rest', app, 'createWebhookEndpoint', { url: 'http://127.0.0.1:9/' })
    const webhookId = endpoint.id
    const read = () => app.rest('GET', `/api/webhooks/${webhookId}`)
    const before = (await read()).text
    for (const api of everyApi) {
      for (const name of ['replayWebhookEvents', 'enableWebhookEndpoint'] as const) {
        for (const after of unknownSequences) {
          const { code, fields } = await ask(api, app, name, { webhookId, after })
          // GraphQL rejects what is no Int without naming a field.
          const invalidFields = api === 'graphql' && after >= 2 ** 31 ? [] : ['after']
          expect([api, name, after, code, fields]).toEqual([api, name, after, 'INVALID_INPUT', invalidFields])
        }
      }
      for (const eventId of unknownEventIds(app)) {
        const { code } = await ask(api, app, 'replayWebhookEvents', { webhookId, eventId })
        expect([eventId, code]).toEqual([eventId, 'RESOURCE_NOT_FOUND'])
      }
    }
    for (const number of [...unknownSequences.map(formatDigits), '0', '-1']) {
      const { status } = await app.rest('GET', `/api/webhooks/${webhookId}/deliveries?before=${number}`)
      expect([number, status]).toEqual([number, number.length < 10 && Number(number) > 0 ? 200 : 400])
    }
    expect((await read()).text).toBe(before)
  })
})
