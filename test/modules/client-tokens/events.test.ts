import { describe, expect, test } from 'vitest'
import type { Tx } from '../../../src/database/query.ts'
import { insertEventRow, reserveSequenceNumbers } from '../../../src/modules/outbox/repository.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { listen } from '../../graphql/support/listen.ts'
import { findSigns } from '../../graphql/support/world.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, everyEngineAndWorkers, payoutBody, startApp } from '../../support/app.ts'
import type { Customers } from './support/customers-world.ts'
import { startCustomers } from './support/customers-world.ts'
import { bearerOptions, tokenFor } from './support/tokens.ts'

type FeedEvent = {
  readonly id: string
  readonly sequence: number
  readonly type: string
  readonly data: { id: string }
}
type EventPage = { readonly data: readonly FeedEvent[]; readonly pagination: { after: number; hasMore: boolean } }

async function pageFor(app: App, token: string, after: number, extraQuery = ''): Promise<EventPage> {
  const { status, body } = await app.rest(
    'GET',
    `/api/events?after=${after}&limit=100${extraQuery}`,
    bearerOptions(token),
  )
  expect([status, body.error]).toEqual([200, undefined])
  return body
}

async function pagesFor(app: App, token: string): Promise<EventPage[]> {
  const pages: EventPage[] = []
  for (let after = 0, hasMore = true; hasMore; ) {
    const page = await pageFor(app, token, after)
    expect(page.pagination.after > after || !page.pagination.hasMore).toBe(true)
    pages.push(page)
    ;({ after, hasMore } = page.pagination)
  }
  return pages
}

/** Records `count` events of objects that belong to no customer, after the sequence number `latest`. */
async function recordForeignEvents({ db, merchant, service }: App, count: number, latest: number): Promise<void> {
  const merchantId = merchant.id
  const write = async (tx: Tx) => {
    await reserveSequenceNumbers(tx, { merchantId, name: 'events', latest: count, latestTime: 0n })
    for (let sequence = latest + 1; sequence <= latest + count; sequence++) {
      const event = { merchantId, sequence, objectId: service.newId(), time: 0n, data: null }
      await insertEventRow(tx, { ...event, type: 'payout.initiated', version: 1 })
    }
  }
  await db.write(write, { merchantId })
}

const allEvents = async ({ token, app }: Customers) => (await pagesFor(app, token)).flatMap(({ data }) => data)

describe.each(everyEngine)('the events that a customer’s client token receives on %s', (engine) => {
  test('are only events of the customer’s objects, in REST, GraphQL and subscriptions', async () => {
    const customers = await startCustomers(engine)
    const { app, ours, token, canaries } = customers
    const events = await allEvents(customers)
    expect(events.map(({ id }) => id)).toEqual(ours.eventIds)
    const types = [...new Set(events.map(({ type }) => type))]
    expect(types).toEqual(
      expect.arrayContaining(['customer.created', 'wallet.created', 'wallet.transaction.inbound', 'payout.returned']),
    )
    expect(types).toEqual(expect.arrayContaining(['payout_method.created', 'payout_method.deleted']))
    const text = JSON.stringify(events)
    expect(findSigns(text, canaries)).toEqual([])

    const query = '{ events(first: 100) { nodes { webhookId sequence } after hasMore } }'
    const { data, errors } = await app.graphql(query, {}, bearerOptions(token))
    expect(errors).toEqual([])
    expect(data.events.nodes.map(({ webhookId }: { webhookId: string }) => webhookId)).toEqual(ours.eventIds)

    const all = 'subscription { eventPublished(after: "0") { webhookId payout { id } wallet { id } customer { id } } }'
    const stream = await listen(app, all, { key: token })
    const streamedIds: string[] = []
    for (const _ of ours.eventIds) streamedIds.push((await stream.next()).data.eventPublished.webhookId)
    expect(streamedIds).toEqual(ours.eventIds)
    const { data: update } = await app.graphql(
      `mutation($input: UpdateCustomerInput!) { updateCustomer(input: $input) { __typename } }`,
      { input: { customerId: ours.person, city: 'Kano' } },
      bearerOptions(token),
    )
    expect(update.updateCustomer.__typename).toBe('UpdateCustomerPayload')
    expect((await stream.next()).data.eventPublished.customer).not.toBeNull()
    stream.end()
  })

  test('are read in bounded scans, so a page can be empty if it covers thousands of events of other owners', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    const token = await tokenFor(app, customerId)
    const { pagination } = await pageFor(app, app.merchant.apiKey, 0)
    const count = 21_000
    await recordForeignEvents(app, count, pagination.after)
    await app.wallet({ customerId, balance: '1' })
    const pages = await pagesFor(app, token)
    expect(pages.map(({ data }) => data.map(({ type }) => type))).toEqual([
      ['customer.created'],
      [],
      ['wallet.created', 'wallet.transaction.inbound'],
    ])
    expect(pages.at(-1)?.pagination.after).toBe(count + 3)
    const waited = await pageFor(app, token, count + 2, '&wait=30')
    expect(waited.data.map(({ sequence }) => sequence)).toEqual([count + 3])

    const stream = await listen(app, 'subscription { eventPublished(after: "1") { sequence } }', { key: token })
    expect((await stream.next()).data.eventPublished.sequence).toBe(count + 2)
    expect((await stream.next()).data.eventPublished.sequence).toBe(count + 3)
    stream.end()
  })
})

describe.each(everyEngine)('on %s, a subscription whose client token expires', (engine) => {
  const query = 'subscription { eventPublished { sequence } }'
  const expired = {
    errors: [{ message: 'The token of this stream has expired.', extensions: { code: 'INVALID_TOKEN' } }],
  }

  async function startWithToken() {
    let nowMs = Date.UTC(2030, 0, 1)
    const app = await startApp(engine, { clock: () => nowMs })
    const token = await tokenFor(app, await app.customer(), ['read'], { expiresIn: 60 })
    const expire = () => {
      nowMs += 60_000
    }
    return { app, token, expire }
  }

  test('ends a text/event-stream response with an INVALID_TOKEN error and a `complete` event', async () => {
    const { app, token, expire } = await startWithToken()
    const stream = await listen(app, query, { key: token })
    expire()
    expect(await stream.next()).toMatchObject(expired)
    expect(await stream.next()).toBeNull()
    expect(stream.seen.ids).toEqual([null])
    expect(stream.seen.text).toMatch(/^event: next\ndata: .+\n\nevent: complete\ndata:\n\n$/m)
  })

  test('ends a multipart/mixed response with an INVALID_TOKEN error and the closing boundary', async () => {
    const { app, token, expire } = await startWithToken()
    const url = await app.server.listen({ port: 0, host: '127.0.0.1' })
    const headers = { authorization: `Bearer ${token}`, accept: 'multipart/mixed', 'content-type': 'application/json' }
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })
    expire()
    const text = await response.text()
    expect(JSON.parse(/^\{.*\}$/m.exec(text)?.[0] ?? '')).toMatchObject(expired)
    expect(text.endsWith('\r\n-----\r\n')).toBe(true)
  })
})

describe.each(everyEngineAndWorkers)('payout subscriptions of a client token on %s', (setup) => {
  test('emit only payouts of the token’s customer, and reject the id of another customer’s payout', async () => {
    const app = await startApp(setup)
    const [own, other] = [await app.customer(), await app.customer()]
    for (const customerId of [own, other]) await app.wallet({ customerId, balance: '100' })
    const token = await tokenFor(app, own)
    const pay = async (customer_id: string) =>
      (await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '1', customer_id } })).body.data.id
    const stream = await listen(app, 'subscription { payoutsChanged { uuid status } }', { key: token })
    const [foreignPayoutId, ownPayoutId] = [await pay(other), await pay(own)]
    for (const payoutId of [foreignPayoutId, ownPayoutId])
      await settlePayout(app.context(), { payoutId, status: 'COMPLETED' })
    expect((await stream.next()).data.payoutsChanged).toEqual({ uuid: ownPayoutId, status: 'COMPLETED' })
    stream.end()
    const rejected = await listen(app, `subscription { payoutChanged(id: "${foreignPayoutId}") { uuid } }`, {
      key: token,
    })
    expect((await rejected.next()).errors[0].extensions.code).toBe('RESOURCE_NOT_FOUND')
  })
})
