import { describe, expect, test } from 'vitest'
import { insertRow } from '../../src/database/query.ts'
import { createCustomer } from '../../src/modules/customers/create-customer.ts'
import { eventsAfter } from '../../src/modules/outbox/repository.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { createWebhookEndpoint } from '../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { createContext } from '../../src/operations/context.ts'
import { nigerian } from '../modules/payouts/payout-places.ts'
import type { App } from '../support/app.ts'
import { everyEngine, sampleCustomer, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import { openConsole, textOf } from './support/open-console.ts'
import { openOperatorConsole } from './support/open-operator-console.ts'

const hostile = `<script>alert("x")</script>`
const insertDelivery = insertRow('webhookDeliveries')
const insertAttempt = insertRow('webhookAttempts')

type Delivered = { readonly endpointId: string; readonly status: 'pending' | 'delivered' | 'exhausted' }

/** Stores the deliveries of a merchant's latest event to its endpoints, each with two attempts. */
async function storeDeliveries(app: App, merchantId: string, deliveries: readonly Delivered[]): Promise<void> {
  const event = (await eventsAfter(app.db, { merchantId, after: 0, limit: 100 })).at(-1)
  if (!event) throw new Error('the merchant has no event')
  const at = '2026-03-01T00:00:00.000Z'
  await app.db.write(
    async (tx) => {
      for (const { endpointId, status } of deliveries) {
        const key = { merchantId, endpointId, sequence: event.sequence }
        const counts = { attempts: 2, attemptsBefore: 0, nextAttemptAt: null, createdAt: at }
        await insertDelivery(tx, { ...key, objectId: event.objectId, status, ...counts })
        for (const attempt of [1, 2]) {
          const outcome = { status: attempt === 1 ? 503 : null, answer: null, error: attempt === 1 ? null : hostile }
          await insertAttempt(tx, { ...key, attempt, attemptedAt: at, durationMs: 1, ...outcome })
        }
      }
    },
    { merchantId },
  )
}

/** Two merchants: the first has two endpoints that each received the same events, the second has one. */
async function startWithDeliveries(engine: (typeof everyEngine)[number], eventCount = 1) {
  const app = await startApp(engine)
  const create = async (merchantId: string, url: string) =>
    (await createWebhookEndpoint(createContext(app.service, merchantId), { url })).result.id
  const [one, two] = [
    await create(app.merchant.id, 'https://example.com/one?"><script>'),
    await create(app.merchant.id, 'https://example.com/two'),
  ]
  await app.wallet({ balance: '1000' })
  for (let count = 0; count < eventCount; count++) {
    await perform(createPayout, app.context(), { assetCode: 'USDC', amount: '1', ...nigerian })
    await storeDeliveries(app, app.merchant.id, [
      { endpointId: one, status: 'delivered' },
      { endpointId: two, status: 'exhausted' },
    ])
  }
  const other = await app.otherMerchant()
  const theirs = await create(other.id, 'https://example.com/theirs')
  await perform(createCustomer, createContext(app.service, other.id), sampleCustomer)
  await storeDeliveries(app, other.id, [{ endpointId: theirs, status: 'pending' }])
  return { app, one, two, theirs, other }
}

describe.each(everyEngine)('the list of webhook deliveries on %s', (engine) => {
  test('shows the deliveries to all endpoints of all merchants, newest event first, and can be filtered', async () => {
    const { app, one, two, theirs, other } = await startWithDeliveries(engine)
    const console = await openConsole(app)
    await console.enter()
    const endpointsOf = (text: string) => [...text.matchAll(/\/webhooks\/([\w-]{36})">/g)].map(([, id]) => id)
    const { text } = await console.get('/webhooks/deliveries')
    expect(endpointsOf(text)).toEqual([theirs, ...[one, two].toSorted().toReversed()])
    expect(text).not.toMatch(/<script>/)
    expect(textOf(text).split(hostile).length - 1).toBe(3)
    expect(text).toContain('>Other merchant</a>')
    expect(text).toMatch(/href="[^"]*\/payouts\/[\w-]{36}" title="[\w-]{36}">payout.initiated</)
    const shown = async (query: string) => endpointsOf((await console.get(`/webhooks/deliveries?${query}`)).text)
    expect(await shown('status=delivered')).toEqual([one])
    expect(await shown('status=exhausted')).toEqual([two])
    expect(await shown('status=pending')).toEqual([theirs])
    expect(await shown(`endpoint=${two}`)).toEqual([two])
    expect(await shown(`merchant=${other.id}`)).toEqual([theirs])
    expect(await shown(`merchant=${other.id}&endpoint=${two}`)).toEqual([])
    expect(await shown('created-before=2020-01-01')).toEqual([])
    expect(await shown('created-from=2020-01-01')).toHaveLength(3)
    for (const invalid of ['status=sent', 'endpoint=x', 'after=x', `after=x&merchant=${other.id}`])
      expect([invalid, (await console.get(`/webhooks/deliveries?${invalid}`)).status]).toEqual([invalid, 400])
    expect((await console.get('/webhooks')).text).toContain('/webhooks/deliveries"')
    expect(console.faults).toEqual([])
  })

  test('shows each delivery once across its pages, for one merchant or all merchants, even to operators with the role `look`', async () => {
    const { app } = await startWithDeliveries(engine, 23)
    const console = await openOperatorConsole(app)
    const operator = await console.operator('eve', 'look')
    for (const [query, total] of [
      [`?merchant=${app.merchant.id}`, 46],
      ['', 47],
    ] as const) {
      const rows: string[] = []
      let path: string | null = `/webhooks/deliveries${query}`
      while (path !== null) {
        const { text } = await operator.get(path)
        rows.push(...[...text.matchAll(/<tr role="row">(<td.*?)<\/tr>/g)].map(([, row]) => String(row)))
        const [, next = null] = /<a href="([^"]*)">More →/.exec(text) ?? []
        path = next && textOf(next)
      }
      const deliveries = rows.map((row) => row.match(/[\w-]{36}/g)?.join())
      expect([deliveries.length, new Set(deliveries).size]).toEqual([total, total])
      const file = (await operator.get(`/webhooks/deliveries${query}${query ? '&' : '?'}format=csv`)).text
      expect(file.split('\r\n')).toHaveLength(total + 2)
      expect(file).toMatch(/^eventId,eventType,sequence,createdAt,status,attempts,attemptedAt,responseStatus,error,/)
    }
    expect(console.faults).toEqual([])
  })
})
