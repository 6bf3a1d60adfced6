import { describe, expect, test } from 'vitest'
import type { App } from '../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../support/bodies.ts'
import { absentId } from './endpoints.ts'

/** Every list with pages: its default limit, and a function that adds one item. */
const lists = [
  {
    name: 'customers',
    limit: 10,
    path: () => '/api/customers',
    add: (app: App) => app.customer(),
  },
  {
    name: 'payout methods',
    limit: 20,
    path: () => '/api/payout/methods',
    add: async (app: App, i: number) => {
      const [kind, body] = i % 2 === 0 ? ['banks', bankMethodBody] : ['wallets', walletMethodBody]
      return (await app.rest('POST', `/api/payout/methods/${kind}`, { body })).body.data.id as string
    },
  },
  {
    name: "a customer's wallets",
    limit: 10,
    path: (customerId: string) => `/api/wallets/${customerId}/customer`,
    add: (app: App, i: number, customerId: string) =>
      app.wallet({ customerId, assetCode: i % 2 === 0 ? 'USDC' : 'ZAR' }),
  },
  {
    name: 'the wallets of the merchant and its customers',
    limit: 10,
    path: () => '/api/wallets',
    add: (app: App, i: number, customerId: string) =>
      app.wallet(i % 2 === 0 ? { assetCode: 'USDC', customerId } : { assetCode: 'ZAR' }),
  },
  ...['', '&customer_id=null&currency=USDC'].map((filter) => ({
    name: `payouts (${filter})`,
    limit: 20,
    path: () => `/api/payouts?${filter}`,
    add: async (app: App, i: number) => {
      if (i === 0) await app.wallet({ balance: '100' })
      return (await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '1' } })).body.data.id
    },
  })),
].map((list) => ({
  ...list,
  path: (id: string) => (list.path(id).includes('?') ? list.path(id) : `${list.path(id)}?`),
}))

const ids = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id)

describe.each(everyEngine)('REST lists on %s', (engine) => {
  test.each(lists)('ruling 15: a page of $name has $limit items by default', async ({ path, limit, add }) => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    for (let i = 0; i < limit + 1; i++) await add(app, i, customerId)
    const first = await app.rest('GET', path(customerId))
    expect(first.body.data).toHaveLength(limit)
    expect(first.body.pagination).toMatchObject({ page: 1, limit, totalPages: 2 })
    const all = await app.rest('GET', `${path(customerId)}&limit=100`)
    const second = await app.rest('GET', `${path(customerId)}&page=2`)
    expect([...ids(first.body), ...ids(second.body)]).toEqual(ids(all.body))
  })

  test.each(lists)('ruling 15: page and limit of $name must be plain decimal integers in range', async ({ path }) => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    const wrong = ['0', '-1', '%2B1', '1.0', '1.5', '1e1', '0x1', '01', '1_0', '%201', '1%20', 'one', 'null', 'NaN']
    const alsoWrong = ['Infinity', '١', '１', '1,2', '1%00', '99999999999999999999', '9007199254740992']
    for (const value of [...wrong, ...alsoWrong]) {
      for (const name of ['page', 'limit']) {
        const { status, body } = await app.rest('GET', `${path(customerId)}&${name}=${value}`)
        expect([name, value, status]).toEqual([name, value, 400])
        expect(body.error.details.fields).toMatchObject([{ field: name, code: 'INVALID_PARAMETER' }])
      }
    }
    for (const limit of ['101', '1000']) {
      expect((await app.rest('GET', `${path(customerId)}&limit=${limit}`)).status).toBe(400)
    }
    // An empty parameter counts as absent (ruling 20).
    for (const query of [
      'page=',
      'limit=',
      'limit=1',
      'limit=100',
      'page=2147483648',
      'page=9007199254740991&limit=100',
    ]) {
      expect((await app.rest('GET', `${path(customerId)}&${query}`)).status).toBe(200)
    }
    const both = await app.rest('GET', `${path(customerId)}&page=x&limit=y`)
    expect(both.body.error.details.fields.map(({ field }: { field: string }) => field)).toEqual(['page', 'limit'])
  })

  test.each(lists)(
    'ruling 16: a page of $name beyond the last page is empty and has the true totals',
    async ({ path, add }) => {
      const app = await startApp(engine)
      const customerId = await app.customer()
      for (let i = 0; i < 4; i++) await add(app, i, customerId)
      const { body: whole } = await app.rest('GET', path(customerId))
      const { total } = whole.pagination
      for (const page of [3, 1_000_000, Number.MAX_SAFE_INTEGER]) {
        const { status, body } = await app.rest('GET', `${path(customerId)}&page=${page}&limit=3`)
        expect([status, body.data]).toEqual([200, []])
        expect(body.pagination).toMatchObject({ total, page, limit: 3, totalPages: 2 })
      }
    },
  )

  test('ruling 16: an empty list has zero pages', async () => {
    const app = await startApp(engine)
    const methods = await app.rest('GET', '/api/payout/methods')
    const none = { total: 0, page: 1, totalPages: 0 }
    expect(methods.body.pagination).toEqual({ ...none, limit: 20, hasNextPage: false, hasPreviousPage: false })
    expect((await app.rest('GET', '/api/customers')).body.pagination).toEqual({ ...none, limit: 10 })
    const customerId = await app.customer()
    const wallets = await app.rest('GET', `/api/wallets/${customerId}/customer`)
    expect(wallets.body.pagination).toEqual({ ...none, limit: 10 })
  })

  test('ruling 16: hasNextPage and hasPreviousPage are correct on every page of payout methods', async () => {
    const app = await startApp(engine)
    for (let i = 0; i < 5; i++) await app.rest('POST', '/api/payout/methods/banks', { body: bankMethodBody })
    const around: unknown[] = []
    for (const page of [1, 2, 3, 4]) {
      const { body } = await app.rest('GET', `/api/payout/methods?limit=2&page=${page}`)
      around.push([body.data.length, body.pagination.hasPreviousPage, body.pagination.hasNextPage])
    }
    expect(around).toEqual([
      [2, false, true],
      [2, true, true],
      [1, true, false],
      [0, true, false],
    ])
  })

  test.each(lists)(
    'ruling 17: $name are sorted newest first, with ids in descending order within one millisecond',
    async ({ path, add }) => {
      let nowMs = Date.UTC(2030, 0, 1)
      const app = await startApp(engine, { clock: () => nowMs })
      const customerId = await app.customer()
      const added: string[] = []
      for (let i = 0; i < 6; i++) {
        added.push(await add(app, i, customerId))
        if (i === 2) nowMs += 1_000
      }
      const { body } = await app.rest('GET', path(customerId))
      expect(ids(body).slice(0, 6)).toEqual(added.reverse())
      expect(ids(body)).toEqual(ids(body).sort().reverse())
    },
  )

  test('ruling 18: customer_id filters payout methods by owner', async () => {
    const app = await startApp(engine)
    const [ada, chidi] = [await app.customer(), await app.customer()]
    const add = async (kind: string, body: object) =>
      (await app.rest('POST', `/api/payout/methods/${kind}`, { body })).body.data.id as string
    const own = await add('banks', bankMethodBody)
    const adas = await add('banks', { ...bankMethodBody, customer_id: ada })
    const adasWallet = await add('wallets', { ...walletMethodBody, customer_id: ada })
    const { apiKey } = await app.otherMerchant()
    await app.rest('POST', '/api/payout/methods/banks', { body: bankMethodBody, key: apiKey })

    const methodIds = async (query: string) => ids((await app.rest('GET', `/api/payout/methods?${query}`)).body)
    expect(await methodIds('')).toEqual([adasWallet, adas, own])
    expect(await methodIds('customer_id=')).toEqual([adasWallet, adas, own])
    expect(await methodIds('customer_id=null')).toEqual([own])
    expect(await methodIds(`customer_id=${ada}`)).toEqual([adasWallet, adas])
    expect(await methodIds(`customer_id=${ada.toUpperCase()}`)).toEqual([adasWallet, adas])
    expect(await methodIds(`customer_id=${ada}&type=BANK`)).toEqual([adas])
    expect(await methodIds(`customer_id=${ada}&currency=USDC`)).toEqual([adasWallet])
    expect(await methodIds(`customer_id=${chidi}`)).toEqual([])
    expect(await methodIds(`customer_id=${absentId}`)).toEqual([])
    // The merchant's own id names no customer.
    expect((await app.rest('GET', `/api/payout/methods?customer_id=${app.merchant.id}`)).status).toBe(200)
  })

  test.each(['NULL', 'undefined', 'me', '0', '%20', 'null%20', '%22null%22', `${absentId},${absentId}`])(
    'ruling 18: customer_id=%s is rejected',
    async (value) => {
      const app = await startApp(engine)
      const { status, body } = await app.rest('GET', `/api/payout/methods?customer_id=${value}`)
      expect([status, body.error.details.fields[0].field]).toEqual([400, 'customer_id'])
    },
  )

  test('ruling 19: an unknown value of a string filter matches nothing', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    await app.wallet({ customerId })
    await app.rest('POST', '/api/payout/methods/banks', { body: bankMethodBody })
    const none = [
      '/api/payout/methods?currency=EUR',
      '/api/payout/methods?currency=ngn',
      '/api/payout/methods?currency=NGN%2Ftype:BANK',
      ...['status=closed', 'asset_type=GOLD', 'currency=XAU', 'currency=usdc']
        .concat(['asset_type=STABLECOIN&currency=XAU', 'asset_type=GOLD&currency=USDC', 'status=x&currency=USDC'])
        .map((query) => `/api/wallets/${customerId}/customer?${query}`),
    ]
    for (const path of none) {
      const { status, body } = await app.rest('GET', path)
      expect([path, status, body.data, body.pagination?.total]).toEqual([path, 200, [], 0])
    }
    const all = await app.rest('GET', `/api/wallets/${customerId}/customer?status=active&asset_type=&currency=USDC`)
    expect(all.body.data).toHaveLength(1)
  })

  test.each(['/api/payout/methods?type=card', '/api/payout/methods?type=null', '/api/asset-codes?asset_type=GOLD'])(
    'ruling 19: GET %s is rejected with the allowed enum values',
    async (path) => {
      const app = await startApp(engine)
      const { status, body } = await app.rest('GET', path)
      expect([status, body.message]).toEqual([
        400,
        expect.stringMatching(/must be one of (BANK, WALLET|FIAT, STABLECOIN)/),
      ])
    },
  )

  test('pages of a list with deleted rows have each remaining row once', async () => {
    const app = await startApp(engine)
    const keptIds: string[] = []
    for (let i = 0; i < 12; i++) {
      const { body } = await app.rest('POST', '/api/payout/methods/banks', { body: bankMethodBody })
      if (i % 3 === 0) await app.rest('DELETE', `/api/payout/methods/${body.data.id}`)
      else keptIds.unshift(body.data.id)
    }
    const paged: string[] = []
    for (const page of [1, 2, 3]) {
      const { body } = await app.rest('GET', `/api/payout/methods?page=${page}&limit=3`)
      expect(body.pagination).toMatchObject({ total: 8, totalPages: 3 })
      paged.push(...ids(body))
    }
    expect(paged).toEqual(keptIds)
  })
})
