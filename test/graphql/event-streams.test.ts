import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Query } from '../../src/database/query.ts'
import { createKey, revokeKey } from '../../src/modules/merchants/manage-keys.ts'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import { createContext } from '../../src/operations/context.ts'
import type { App } from '../support/app.ts'
import { everyEngine, everyEngineAndWorkers, payoutBody, startApp } from '../support/app.ts'
import { createServerVariant } from './support/ask.ts'
import { listen } from './support/listen.ts'
import { numbers, readEvents } from './support/read-events.ts'

type Params = Readonly<Record<string, unknown>>

/** Creates this many events: a wallet, and deposits to it. */
async function happen(app: App, count: number): Promise<string> {
  const walletId = await app.wallet()
  for (let i = 1; i < count; i++) await deposit(app, walletId)
  return walletId
}

const deposit = (app: App, walletId: string) =>
  depositToWallet(app.context(), { walletId, amount: '1', reference: app.service.newId() })

const all = 'subscription { eventPublished { sequence } }'
const fromStart = 'subscription { eventPublished(after: "0") { sequence } }'

describe.each(everyEngineAndWorkers)('eventPublished on %s', (engine) => {
  test('eventPublished sends only new events of its merchant, in order and with the sequence as the event id', async () => {
    const app = await startApp(engine)
    await app.otherMerchant()
    const walletId = await app.wallet({ balance: '100' })
    const stream = await listen(
      app,
      'subscription { eventPublished { type sequence version objectId data payout { uuid status } wallet { uuid } } }',
    )
    const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '1' } })
    const payoutId = body.data.id
    const [initiated] = await readEvents(stream, 1)
    expect(initiated).toEqual({
      type: 'PAYOUT_INITIATED',
      sequence: 3,
      version: 1,
      objectId: payoutId,
      data: expect.objectContaining({ id: payoutId, status: 'PROCESSING' }),
      payout: { uuid: payoutId, status: 'PROCESSING' },
      wallet: null,
    })
    await settlePayout(app.context(), { payoutId, status: 'COMPLETED' })
    await deposit(app, walletId)
    expect(await readEvents(stream, 2)).toMatchObject([
      { type: 'PAYOUT_COMPLETED', sequence: 4, version: 2, data: { status: 'COMPLETED' } },
      { type: 'WALLET_TRANSACTION_INBOUND', sequence: 5, data: { wallet_id: walletId }, wallet: { uuid: walletId } },
    ])
    expect(stream.seen.ids).toEqual(['3', '4', '5'])
  })

  test('eventPublished resumes after any Last-Event-ID, by GET and by POST, without gaps or duplicates', async () => {
    const app = await startApp(engine)
    const walletId = await happen(app, 6)
    for (const method of ['GET', 'POST'] as const) {
      let had = 0
      // Disconnects at different positions.
      for (const count of [1, 3, 2]) {
        const stream = await listen(app, fromStart, { method, ...(had > 0 && { lastEventId: String(had) }) })
        const received = await readEvents(stream, count)
        stream.end()
        expect(received.map(({ sequence }) => sequence)).toEqual(numbers(had + 1, had + count))
        expect(stream.seen.ids).toContain(String(had + count))
        had += count
      }
    }
    // Also an event that did not exist when the stream began.
    const stream = await listen(app, all, { lastEventId: '4' })
    expect(await readEvents(stream, 2)).toEqual([{ sequence: 5 }, { sequence: 6 }])
    await deposit(app, walletId)
    expect(await readEvents(stream, 1)).toEqual([{ sequence: 7 }])
  })
})

describe.each(everyEngine)('an event stream on %s', (engine) => {
  test('an event stream that starts slowly sends an event that occurs right after the response headers', async () => {
    const app = await startApp(engine)
    const walletId = await happen(app, 2)
    const execute = async <Result>(query: Query, params: object) => {
      if ('merchantIds' in params) await delay(200)
      return app.db.execute<Result>(query, params)
    }
    const server = createServerVariant(app, { service: { ...app.service, db: { ...app.db, execute } } })
    const stream = await listen(app, all, { server })
    await deposit(app, walletId)
    expect(await readEvents(stream, 1)).toEqual([{ sequence: 3 }])
  })

  test('a second event stream of a merchant executes no query until an event occurs', async () => {
    const app = await startApp(engine)
    const walletId = await happen(app, 2)
    const queries: Params[] = []
    const execute = <Result>(query: Query, params: object) => {
      queries.push(params as Params)
      return app.db.execute<Result>(query, params)
    }
    const server = createServerVariant(app, { service: { ...app.service, db: { ...app.db, execute } } })
    const first = await listen(app, all, { server })
    await delay(100)
    queries.length = 0
    const goingOn = 'subscription { eventPublished(after: "2") { sequence } }'
    const payouts = 'subscription { payoutsChanged { uuid } }'
    const streams = await Promise.all(
      Array.from({ length: 20 }, (_, i) => listen(app, i < 5 ? all : i < 10 ? goingOn : payouts, { server })),
    )
    await delay(100)
    // Except the queries for the key and, on a server, the fallback poll for missed notifications.
    const keyId = app.merchant.apiKey.split('_')[2] ?? ''
    const isOfKey = (params: Params) => JSON.stringify(params).includes(keyId)
    const isOwn = (params: Params) => !isOfKey(params) && !(engine === 'postgres' && 'merchantIds' in params)
    expect(queries.filter(isOwn)).toEqual([])
    await deposit(app, walletId)
    for (const each of [first, ...streams.slice(0, 10)]) expect(await readEvents(each, 1)).toEqual([{ sequence: 3 }])
  })

  test('an event stream sends only the event types that the caller selected', async () => {
    const app = await startApp(engine)
    await happen(app, 3)
    await app.customer()
    await happen(app, 2)
    const types = '[CUSTOMER_CREATED, WALLET_CREATED]'
    const stream = await listen(app, `subscription { eventPublished(after: "1", types: ${types}) { type sequence } }`)
    expect(await readEvents(stream, 2)).toEqual([
      { type: 'CUSTOMER_CREATED', sequence: 4 },
      { type: 'WALLET_CREATED', sequence: 5 },
    ])
    expect(stream.seen.ids).toEqual(['4', '5'])
  })

  test('an event stream whose API key is revoked during the hydration of an event ends without that event (ruling 80)', async () => {
    const app = await startApp(engine)
    const walletId = await happen(app, 2)
    const { apiKey, id: keyId } = await createKey(app.service, app.merchant.id)
    let isHeld = false
    let reached = () => {}
    const execute = async <Result>(query: Query, params: object) => {
      // The query from the event to its wallet.
      if (isHeld && JSON.stringify(params, (_, value) => String(value) && value).includes(walletId)) {
        reached()
        await new Promise(() => {})
      }
      return app.db.execute<Result>(query, params)
    }
    const server = createServerVariant(app, { service: { ...app.service, db: { ...app.db, execute } } })
    const query = 'subscription { eventPublished(after: "0") { sequence wallet { uuid } } }'
    const stream = await listen(app, query, { server, key: apiKey })
    expect(await readEvents(stream, 2)).toMatchObject([{ sequence: 1 }, { sequence: 2 }])
    isHeld = true
    const isReached = new Promise<void>((resolve) => {
      reached = resolve
    })
    await deposit(app, walletId)
    await isReached
    await revokeKey(app.service, keyId)
    expect(await stream.next()).toMatchObject({ errors: [{ extensions: { code: 'INVALID_TOKEN' } }] })
    expect(await stream.next()).toBeNull()
    expect(stream.seen.ids).toEqual(['1', '2', null])
  })
})

describe('the wire format of event streams', () => {
  test('the wire format of event streams is stable across versions, and only events have ids', async () => {
    const app = await startApp('sqlite')
    await happen(app, 2)
    const stream = await listen(app, 'subscription { eventPublished(after: "1") { sequence } }')
    await stream.next()
    expect(Object.fromEntries(stream.answered.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'content-encoding': 'none',
    })
    expect(stream.seen.text.replace(/,"extensions":.*\}/, '}')).toBe(
      ':\n\nevent: next\nid: 2\ndata: {"data":{"eventPublished":{"sequence":2}}}\n\n',
    )
    const query = await listen(app, '{ merchant { name } }')
    while ((await query.next()) !== null);
    expect(query.seen.text.replace(/,"extensions":.*\}/, '}')).toBe(
      ':\n\nevent: next\ndata: {"data":{"merchant":{"name":"Test merchant"}}}\n\nevent: complete\ndata:\n\n',
    )
    expect(query.seen.ids).toEqual([null])
  })

  test('a stream of a payout begins with the present state and has no event ids', async () => {
    const app = await startApp('sqlite')
    await app.wallet({ balance: '100' })
    const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '1' } })
    const stream = await listen(app, `subscription { payoutChanged(id: "${body.data.id}") { status } }`)
    expect(await stream.next()).toMatchObject({ data: { payoutChanged: { status: 'PROCESSING' } } })
    await settlePayout(app.context(), { payoutId: body.data.id, status: 'FAILED' })
    expect(await stream.next()).toMatchObject({ data: { payoutChanged: { status: 'FAILED' } } })
    expect(await stream.next()).toBeNull()
    expect(stream.seen.ids).toEqual([null, null])
  })
})

describe('eventPublished', () => {
  test.each([
    ['after', 'subscription { eventPublished(after: "x") { sequence } }', undefined, 'sequence of an event'],
    ['after', 'subscription { eventPublished(after: "3") { sequence } }', undefined, 'must be at most 2'],
    ['Last-Event-ID', fromStart, 'evt_1', 'sequence of an event'],
    ['Last-Event-ID', fromStart, '3', 'must be at most 2'],
  ])('eventPublished rejects a position in %s that does not exist', async (field, query, lastEventId, message) => {
    const app = await startApp('sqlite')
    await happen(app, 2)
    const stream = await listen(app, query, lastEventId === undefined ? {} : { lastEventId })
    const { errors } = await stream.next()
    expect(errors[0].extensions).toMatchObject({ code: 'INVALID_INPUT', fields: [{ field }] })
    expect(errors[0].message).toContain(message)
    expect(await stream.next()).toBeNull()
  })

  test('eventPublished treats an empty Last-Event-ID as absent', async () => {
    const app = await startApp('sqlite')
    await happen(app, 2)
    expect(await readEvents(await listen(app, fromStart, { lastEventId: '' }), 2)).toEqual([
      { sequence: 1 },
      { sequence: 2 },
    ])
  })

  test("eventPublished with another merchant's Last-Event-ID gives no access to that merchant's events", async () => {
    const app = await startApp('sqlite')
    await happen(app, 4)
    const other = await app.otherMerchant()
    const context = createContext(app.service, other.id)
    const stream = await listen(app, all, { key: other.apiKey, lastEventId: '3' })
    expect((await stream.next()).errors[0].message).toContain('must be at most 0')
    expect(context.merchantId).toBe(other.id)
  })
})
