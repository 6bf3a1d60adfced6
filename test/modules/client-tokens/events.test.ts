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

type Told = { readonly id: string; readonly sequence: number; readonly type: string; readonly data: { id: string } }
type Page = { readonly data: readonly Told[]; readonly pagination: { after: number; hasMore: boolean } }

async function pageFor(app: App, token: string, after: number, more = ''): Promise<Page> {
  const { status, body } = await app.rest('GET', `/api/events?after=${after}&limit=100${more}`, bearerOptions(token))
  expect([status, body.error]).toEqual([200, undefined])
  return body
}

/** Every page of a customer's events, from the first. */
async function pagesFor(app: App, token: string): Promise<Page[]> {
  const pages: Page[] = []
  for (let after = 0, hasMore = true; hasMore; ) {
    const page = await pageFor(app, token, after)
    expect(page.pagination.after > after || !page.pagination.hasMore).toBe(true)
    pages.push(page)
    ;({ after, hasMore } = page.pagination)
  }
  return pages
}

/** So many events of what is no customer's, after those that there are. */
async function happenToOthers({ db, merchant, service }: App, count: number, latest: number): Promise<void> {
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

const countOf = async ({ token, app }: Customers) => (await pagesFor(app, token)).flatMap(({ data }) => data)

describe.each(everyEngine)('the events of one customer on %s', (engine) => {
  test('are those of what is its own, and all of them, at both doors and in a stream', async () => {
    const customers = await startCustomers(engine)
    const { app, ours, token, canaries } = customers
    const told = await countOf(customers)
    expect(told.map(({ id }) => id)).toEqual(ours.eventIds)
    const types = [...new Set(told.map(({ type }) => type))]
    expect(types).toEqual(
      expect.arrayContaining(['customer.created', 'wallet.created', 'wallet.transaction.inbound', 'payout.returned']),
    )
    // What was deleted is told as it was.
    expect(types).toEqual(expect.arrayContaining(['payout_method.created', 'payout_method.deleted']))
    const text = JSON.stringify(told)
    expect(findSigns(text, canaries)).toEqual([])

    const query = '{ events(first: 100) { nodes { webhookId sequence } after hasMore } }'
    const { data, errors } = await app.graphql(query, {}, bearerOptions(token))
    expect(errors).toEqual([])
    expect(data.events.nodes.map(({ webhookId }: { webhookId: string }) => webhookId)).toEqual(ours.eventIds)

    const all = 'subscription { eventPublished(after: "0") { webhookId payout { id } wallet { id } customer { id } } }'
    const stream = await listen(app, all, { key: token })
    const seen: string[] = []
    for (const _ of ours.eventIds) seen.push((await stream.next()).data.eventPublished.webhookId)
    expect(seen).toEqual(ours.eventIds)
    const { data: own } = await app.graphql(
      `mutation($input: UpdateCustomerInput!) { updateCustomer(input: $input) { __typename } }`,
      { input: { customerId: ours.person, city: 'Kano' } },
      bearerOptions(token),
    )
    expect(own.updateCustomer.__typename).toBe('UpdateCustomerPayload')
    expect((await stream.next()).data.eventPublished.customer).not.toBeNull()
    stream.end()
  })

  test('are not looked for without an end among those of others', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    const token = await tokenFor(app, customerId)
    const { pagination } = await pageFor(app, app.merchant.apiKey, 0)
    const count = 21_000
    await happenToOthers(app, count, pagination.after)
    await app.wallet({ customerId, balance: '1' })
    const pages = await pagesFor(app, token)
    expect(pages.map(({ data }) => data.map(({ type }) => type))).toEqual([
      ['customer.created'],
      [],
      ['wallet.created', 'wallet.transaction.inbound'],
    ])
    expect(pages.at(-1)?.pagination.after).toBe(count + 3)
    // It waits for what comes, beyond what has been.
    const waited = await pageFor(app, token, count + 2, '&wait=30')
    expect(waited.data.map(({ sequence }) => sequence)).toEqual([count + 3])

    const stream = await listen(app, 'subscription { eventPublished(after: "1") { sequence } }', { key: token })
    expect((await stream.next()).data.eventPublished.sequence).toBe(count + 2)
    expect((await stream.next()).data.eventPublished.sequence).toBe(count + 3)
    stream.end()
  })
})

describe.each(everyEngine)('a stream whose token expires on %s', (engine) => {
  const query = 'subscription { eventPublished { sequence } }'
  const expired = {
    errors: [{ message: 'The token of this stream has expired.', extensions: { code: 'INVALID_TOKEN' } }],
  }

  async function startedAt() {
    let now = Date.UTC(2030, 0, 1)
    const app = await startApp(engine, { clock: () => now })
    const token = await tokenFor(app, await app.customer(), ['read'], { expiresIn: 60 })
    const expire = () => {
      now += 60_000
    }
    return { app, token, expire }
  }

  test('ends with an error that says so, and with complete as the last server-sent event', async () => {
    const { app, token, expire } = await startedAt()
    const stream = await listen(app, query, { key: token })
    expire()
    expect(await stream.next()).toMatchObject(expired)
    expect(await stream.next()).toBeNull()
    expect(stream.seen.ids).toEqual([null])
    expect(stream.seen.text).toMatch(/^event: next\ndata: .+\n\nevent: complete\ndata:\n\n$/m)
  })

  test('ends with an error that says so, and with the last boundary of its parts', async () => {
    const { app, token, expire } = await startedAt()
    const url = await app.server.listen({ port: 0, host: '127.0.0.1' })
    const headers = { authorization: `Bearer ${token}`, accept: 'multipart/mixed', 'content-type': 'application/json' }
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })
    expire()
    // It would reject where the connection was cut.
    const text = await response.text()
    expect(JSON.parse(/^\{.*\}$/m.exec(text)?.[0] ?? '')).toMatchObject(expired)
    expect(text.endsWith('\r\n-----\r\n')).toBe(true)
  })
})

describe.each(everyEngineAndWorkers)('payouts of one customer on %s', (setup) => {
  test('are followed by its token, and no others are', async () => {
    const app = await startApp(setup)
    const [own, other] = [await app.customer(), await app.customer()]
    for (const customerId of [own, other]) await app.wallet({ customerId, balance: '100' })
    const token = await tokenFor(app, own)
    const pay = async (customer_id: string) =>
      (await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '1', customer_id } })).body.data.id
    const stream = await listen(app, 'subscription { payoutsChanged { uuid status } }', { key: token })
    const [theirs, mine] = [await pay(other), await pay(own)]
    for (const payoutId of [theirs, mine]) await settlePayout(app.context(), { payoutId, status: 'COMPLETED' })
    expect((await stream.next()).data.payoutsChanged).toEqual({ uuid: mine, status: 'COMPLETED' })
    stream.end()
    const refused = await listen(app, `subscription { payoutChanged(id: "${theirs}") { uuid } }`, { key: token })
    expect((await refused.next()).errors[0].extensions.code).toBe('RESOURCE_NOT_FOUND')
  })
})
