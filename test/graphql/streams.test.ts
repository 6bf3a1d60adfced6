import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { Query } from '../../src/database/query.ts'
import { toGlobalId } from '../../src/graphql/schema/global-ids.ts'
import { createKey, revokeKey, rotateKey } from '../../src/modules/merchants/manage-keys.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import { createWallet } from '../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import { createContext } from '../../src/operations/context.ts'
import { maxStreamsPerMerchant, takeUntilEnd } from '../../src/server/graphql/stream-limiter.ts'
import { nigerian } from '../modules/payouts/payout-places.ts'
import type { App } from '../support/app.ts'
import { everyEngine, everyEngineAndWorkers, payoutBody, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import { createServerVariant } from './support/ask.ts'
import { listen, patienceMs } from './support/listen.ts'

const patience = { timeout: patienceMs, interval: 20 }

type Params = Readonly<Record<string, unknown>>

/** Recognizes the poll for merchants with new events, and the query that reads these. */
const isLook = (params: Params) => 'merchantIds' in params
const isReading = (params: Params) => 'after' in params

async function pay(app: App, customer_id?: string): Promise<string> {
  const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '1', customer_id } })
  return body.data.id
}

const settle = (app: App, payoutId: string, status: 'COMPLETED' | 'FAILED' | 'RETURNED') =>
  settlePayout(app.context(), { payoutId, status })
const keyIdOf = (key: string) => key.split('_')[2] ?? ''
const ended = { errors: [{ extensions: { code: 'INVALID_TOKEN' } }], extensions: { requestId: expect.any(String) } }

describe.each(everyEngineAndWorkers)('a GraphQL stream on %s', (engine) => {
  test("a stream ends with an error when its API key is revoked, and the merchant's other streams continue", async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const payoutId = await pay(app)
    const query = `subscription { payoutChanged(id: "${payoutId}") { status } }`
    const { apiKey } = await createKey(app.service, app.merchant.id)
    const [own, other] = [await listen(app, query), await listen(app, query, { key: apiKey })]
    for (const { next } of [own, other]) {
      expect(await next()).toMatchObject({ data: { payoutChanged: { status: 'PROCESSING' } } })
    }

    await revokeKey(app.service, keyIdOf(app.merchant.apiKey))
    expect(await own.next()).toMatchObject(ended)
    expect(await own.next()).toBeNull()
    expect((await listen(app, query)).answered.status).toBe(401)

    await settle(app, payoutId, 'FAILED')
    expect(await other.next()).toMatchObject({ data: { payoutChanged: { status: 'FAILED' } } })
    expect(await other.next()).toBeNull()
  })

  test('a stream ends when its API key is rotated, and sends no later event', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const stream = await listen(app, 'subscription { payoutsChanged { status } }')
    await rotateKey(app.service, app.merchant.id)
    const payoutId = await pay(app)
    await settle(app, payoutId, 'COMPLETED')
    expect(await stream.next()).toMatchObject({ data: { payoutsChanged: { status: 'COMPLETED' } } })
    await rotateKey(app.service, app.merchant.id)
    expect(await stream.next()).toMatchObject(ended)
    await settle(app, payoutId, 'RETURNED')
    expect(await stream.next()).toBeNull()
  })
})

describe.each(everyEngine)('payoutsChanged on %s', (engine) => {
  test('payoutsChanged sends changes of several payouts until all have reached a final status', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const ids = [await pay(app), await pay(app), await pay(app)]
    const unwatched = await pay(app)
    const [one = '', two = '', three = ''] = ids
    const given = [one, toGlobalId('Payout', two), three.toUpperCase(), one].map((id) => `"${id}"`)
    const { next } = await listen(
      app,
      `subscription { payoutsChanged(ids: [${given}]) { uuid status events { status } } }`,
    )
    const nextPayout = async () => (await next())?.data?.payoutsChanged ?? null
    for (const uuid of ids) expect(await nextPayout()).toEqual({ uuid, status: 'PROCESSING', events: [] })

    await settle(app, unwatched, 'COMPLETED')
    await settle(app, two, 'FAILED')
    expect(await nextPayout()).toEqual({ uuid: two, status: 'FAILED', events: [{ status: 'FAILED' }] })
    await settle(app, one, 'FAILED')
    await settle(app, three, 'COMPLETED')
    expect([await nextPayout(), await nextPayout()]).toMatchObject([
      { uuid: one },
      { uuid: three, status: 'COMPLETED' },
    ])
    await settle(app, three, 'RETURNED')
    expect(await nextPayout()).toMatchObject({ uuid: three, status: 'RETURNED' })
    expect(await next()).toBeNull()
  })

  test("payoutsChanged sends changes of the merchant's payouts, or only of one customer's payouts", async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    await app.wallet({ balance: '100' })
    await app.wallet({ balance: '100', customerId })
    const [own, ofCustomer] = [await pay(app), await pay(app, customerId)]
    const other = await app.otherMerchant()
    const streams = [
      await listen(app, 'subscription { payoutsChanged { uuid status } }'),
      await listen(app, `subscription { payoutsChanged(customerId: "${customerId}") { uuid status } }`),
      await listen(app, 'subscription { payoutsChanged { uuid } }', { key: other.apiKey }),
    ] as const
    await settle(app, own, 'COMPLETED')
    await settle(app, ofCustomer, 'COMPLETED')
    const nextPayoutId = async (i: 0 | 1) => (await streams[i].next())?.data?.payoutsChanged?.uuid
    expect([await nextPayoutId(0), await nextPayoutId(0), await nextPayoutId(1)]).toEqual([own, ofCustomer, ofCustomer])
    await settle(app, own, 'RETURNED')
    await settle(app, ofCustomer, 'RETURNED')
    expect([await nextPayoutId(0), await nextPayoutId(0), await nextPayoutId(1)]).toEqual([own, ofCustomer, ofCustomer])
    // The other merchant's stream receives its own payout first.
    const context = createContext(app.service, other.id)
    const { id: walletId } = await perform(createWallet, context, {
      currency: 'USDC',
      description: 'W',
      network: 'erc20',
    })
    await depositToWallet(context, { walletId, amount: '1', reference: 'r' })
    const { id: theirs } = await perform(createPayout, context, { ...nigerian, assetCode: 'USDC', amount: '1' })
    await settlePayout(context, { payoutId: theirs, status: 'COMPLETED' })
    expect((await streams[2].next())?.data?.payoutsChanged?.uuid).toBe(theirs)
  })
})

describe('payoutsChanged', () => {
  test.each<[string, string, object]>([
    [
      'no ids',
      'ids: []',
      { code: 'INVALID_INPUT', fields: [{ field: 'ids', message: 'ids must have 1 to 100 items' }] },
    ],
    [
      'more than a hundred ids',
      `ids: [${'"x" '.repeat(101)}]`,
      { code: 'INVALID_INPUT', fields: [{ field: 'ids', message: 'ids must have 1 to 100 items' }] },
    ],
    [
      'ids together with customerId',
      'ids: ["x"], customerId: "x"',
      { code: 'INVALID_INPUT', fields: [{ field: 'customerId' }] },
    ],
    ['an unknown payout', 'ids: ["x"]', { code: 'RESOURCE_NOT_FOUND' }],
    ['an unknown customer', 'customerId: "019b7679-7400-7000-8000-000000000000"', { code: 'RESOURCE_NOT_FOUND' }],
  ])('payoutsChanged rejects %s', async (_, given, extensions) => {
    const app = await startApp('sqlite')
    const { data, errors } = await app.graphql(
      `subscription { payoutsChanged(${given}) { uuid } }`,
      {},
      { headers: { accept: 'text/event-stream, application/json' } },
    )
    expect([data, errors]).toMatchObject([null, [{ extensions }]])
  })
})

describe.each(everyEngine)('the event poll behind streams on %s', (engine) => {
  test('the event poll executes one query per event for all streams, and no query while no event occurs', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '1000' })
    const payment = { assetCode: 'USDC', amount: '1', payoutMethodId: await bankMethod(app) } as const
    const payouts = await Promise.all(Array.from({ length: 100 }, () => perform(createPayout, app.context(), payment)))
    const [first, ...others] = payouts.map(({ id }) => id)
    const queries: Params[] = []
    const execute = <Result>(query: Query, params: object) => {
      queries.push(params as Params)
      return app.db.execute<Result>(query, params)
    }
    const server = createServerVariant(app, { service: { ...app.service, db: { ...app.db, execute } } })
    const ids = payouts.map(({ id }) => `"${id}"`)
    const stream = await listen(app, `subscription { payoutsChanged(ids: [${ids}]) { uuid } }`, { server })
    for (const _ of ids) await stream.next()
    const { id, apiKey } = await app.otherMerchant()
    const theirs = await listen(app, 'subscription { payoutsChanged { uuid } }', { server, key: apiKey })
    const more = await Promise.all(
      Array.from({ length: 20 }, () => listen(app, 'subscription { payoutsChanged { uuid } }', { server })),
    )
    // Waits until pending work has finished.
    await settle(app, others[0] as string, 'COMPLETED')
    expect((await stream.next()).data.payoutsChanged.uuid).toBe(others[0])
    for (const each of more) expect((await each.next()).data.payoutsChanged.uuid).toBe(others[0])
    await delay(300)

    queries.length = 0
    await delay(1_200)
    // Except the lookups of keys and, on a server, the fallback poll for missed notifications.
    expect(queries.filter(isReading)).toEqual([])
    expect(queries.filter(isLook).length).toBeLessThanOrEqual(engine === 'sqlite' ? 0 : 1)
    expect(queries.length).toBeLessThanOrEqual(engine === 'sqlite' ? 1 : 5)

    queries.length = 0
    await settle(app, first as string, 'FAILED')
    for (const each of [stream, ...more]) expect((await each.next()).data.payoutsChanged.uuid).toBe(first)
    const looks = queries.filter(isLook)
    expect(looks.length).toBeGreaterThan(0)
    for (const { merchantIds } of looks)
      expect(new Set(merchantIds as string[])).toEqual(new Set([app.merchant.id, id]))
    // Each merchant's events are read separately; the other merchant has none.
    expect(queries.filter((each) => isReading(each) && each.merchantId === app.merchant.id)).toHaveLength(21)
    expect(queries.filter((each) => isReading(each) && each.merchantId === id)).toEqual([])

    for (const each of [stream, ...more]) each.end()
    await settle(app, others[1] as string, 'FAILED')
    queries.length = 0
    await settle(app, others[2] as string, 'FAILED')
    await expect
      .poll(async () => {
        queries.length = 0
        await settle(app, others.pop() as string, 'FAILED')
        await delay(200)
        return [queries.filter(isReading), new Set(queries.filter(isLook).flatMap(({ merchantIds }) => merchantIds))]
      }, patience)
      .toEqual([[], new Set([id])])
    theirs.end()
  })
})

describe.each(everyEngine)('a GraphQL stream whose caller disconnects before the start, on %s,', (engine) => {
  test('does not count towards the limit of streams, and starts no poll', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    let end = new AbortController()
    let isGone = false
    const queries: Params[] = []
    let closed = Promise.withResolvers<void>()
    const execute = async <Result>(query: Query, params: object) => {
      queries.push(params as Params)
      // The first query of the stream itself.
      if (!isGone && JSON.stringify(params).includes(customerId)) {
        end.abort()
        await closed.promise
      }
      return app.db.execute<Result>(query, params)
    }
    const server = createServerVariant(app, { service: { ...app.service, db: { ...app.db, execute } } })
    server.server.on('request', (_, response) => response.once('close', () => closed.resolve()))
    const query = `subscription { payoutsChanged(customerId: "${customerId}") { uuid } }`
    const stream = () => listen(app, query, { server, signal: end.signal })
    for (let i = 0; i < maxStreamsPerMerchant; i++) {
      await expect(stream()).rejects.toThrow()
      await closed.promise
      end = new AbortController()
      closed = Promise.withResolvers()
    }
    isGone = true
    // While another stream is polled for, none of these is.
    const { id, apiKey } = await app.otherMerchant()
    await listen(app, 'subscription { payoutsChanged { uuid } }', { server, key: apiKey })
    queries.length = 0
    await app.wallet({ balance: '1' })
    await expect.poll(() => queries.filter(isLook).map(({ merchantIds }) => merchantIds), patience).toContainEqual([id])
    expect(queries.filter(isReading)).toEqual([])
    expect((await stream()).answered.status).toBe(200)
    end.abort()
  })
})

describe('a GraphQL stream whose source fails', () => {
  test('sends a GraphQL error and ends', async () => {
    const app = await startApp('sqlite')
    await app.wallet({ balance: '100' })
    const payoutId = await pay(app)
    let isBroken = false
    const execute = <Result>(query: Query, params: object) => {
      if (isBroken) throw new Error('the disk of 0690000032 is gone')
      return app.db.execute<Result>(query, params)
    }
    const server = createServerVariant(app, { service: { ...app.service, db: { ...app.db, execute } } })
    const { next } = await listen(app, `subscription { payoutChanged(id: "${payoutId}") { status } }`, { server })
    expect(await next()).toMatchObject({ data: { payoutChanged: { status: 'PROCESSING' } } })
    await settle(app, payoutId, 'COMPLETED')
    expect(await next()).toMatchObject({ data: { payoutChanged: { status: 'COMPLETED' } } })
    const nextResult = next()
    await settle(app, payoutId, 'RETURNED')
    isBroken = true
    expect(await nextResult).toMatchObject({
      errors: [{ message: expect.stringContaining('The service failed'), extensions: { code: 'INTERNAL' } }],
      extensions: { requestId: expect.any(String) },
    })
    expect(await next()).toBeNull()
  })
})

describe('memory after a response by Yoga', () => {
  test.each(['a stream that its caller closes', 'a multipart stream', 'a query over GET'])(
    'the request object of %s is released from memory after the response has ended',
    async (kind) => {
      const app = await startApp('sqlite')
      const server = createServerVariant(app, {})
      const url = `${await server.listen({ port: 0, host: '127.0.0.1' })}/graphql`
      const requests: WeakRef<IncomingMessage>[] = []
      let socket: Socket | null = null
      let closed = Promise.withResolvers<void>()
      server.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
        requests.push(new WeakRef(request))
        // A stream that its caller closes ends its connection; the other requests share one.
        if (kind === 'a query over GET') socket = request.socket
        response.once('close', () => closed.resolve())
      })
      const headers = { 'x-api-key': app.merchant.apiKey, 'content-type': 'application/json' }
      const ask = async () => {
        closed = Promise.withResolvers()
        const end = new AbortController()
        if (kind === 'a query over GET') {
          const answered = await fetch(`${url}?query=%7Bmerchant%7Bname%7D%7D`, { headers })
          expect(await answered.json()).toMatchObject({ data: { merchant: { name: 'Test merchant' } } })
        } else {
          const accept = kind === 'a multipart stream' ? 'multipart/mixed' : 'text/event-stream'
          const answered = await fetch(url, {
            method: 'POST',
            headers: { ...headers, accept },
            body: JSON.stringify({ query: 'subscription { payoutsChanged { uuid } }' }),
            signal: end.signal,
          })
          expect(answered.status).toBe(200)
          end.abort()
        }
        await closed.promise
      }
      await ask()
      const listenersOf = (emitter: EventEmitter | null) =>
        emitter?.eventNames().map((name) => emitter.listenerCount(name))
      const listeners = () => [listenersOf(process), listenersOf(socket)]
      const before = listeners()
      for (let i = 0; i < 20; i++) await ask()
      expect(listeners()).toEqual(before)
      const collect = garbageCollector()
      // The connection of the last one may still be open.
      const countReachable = async () => {
        await delay(20)
        collect()
        return requests.filter((request) => request.deref() !== undefined).length
      }
      await expect.poll(countReachable, patience).toBeLessThan(3)
    },
  )
})

describe('results of a stream with an end', () => {
  test('takeUntilEnd releases each result from memory after the result was sent', async () => {
    const references = new Set<WeakRef<object>>()
    async function* results() {
      for (let i = 0; i < 1_000; i++) {
        const each = { i }
        references.add(new WeakRef(each))
        yield each
      }
    }
    const collect = garbageCollector()
    let count = 0
    for await (const _ of takeUntilEnd(results(), new Promise<never>(() => {}))) {
      if (++count < 1_000) continue
      await new Promise((resolve) => setImmediate(resolve))
      collect()
      expect([...references].filter((ref) => ref.deref() !== undefined).length).toBeLessThan(10)
    }
    expect(count).toBe(1_000)
  })

  test('takeUntilEnd returns a last result and closes the stream when the stream is ended, even while its source yields no result', async () => {
    const { promise, resolve } = Promise.withResolvers<string | null>()
    async function* told() {
      yield 'first'
      await new Promise(() => {})
    }
    const results = takeUntilEnd(told(), promise)
    expect(await results.next()).toEqual({ value: 'first', done: false })
    const next = results.next()
    resolve('last')
    expect(await next).toEqual({ value: 'last', done: false })
    expect(await results.next()).toEqual({ value: undefined, done: true })
  })
})

/** Forces a full garbage collection. */
function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}

async function bankMethod(app: App): Promise<string> {
  const { data } = await app.graphql(`mutation { createBankPayoutMethod(input: {
    accountName: "Ada Obi", accountNumber: "0690000032", bankName: "Access Bank", bankCode: "044", currency: "NGN" }) {
    ... on CreateBankPayoutMethodPayload { payoutMethod { uuid } } } }`)
  return data.createBankPayoutMethod.payoutMethod.uuid
}
