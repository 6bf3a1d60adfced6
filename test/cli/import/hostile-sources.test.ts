import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ContractClient } from '../../../src/cli/contract/contract-client.ts'
import { createContractClient } from '../../../src/cli/contract/contract-client.ts'
import type { ImportReport } from '../../../src/cli/import/import-report.ts'
import { runImport } from '../../../src/cli/import/run-import.ts'
import { createSavedResponseClient } from '../../../src/cli/import/saved-responses.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { cli, createEmptyInstallation } from '../../support/process.ts'
import { readStoredRows } from '../../support/stored.ts'

const id = (number: number) => `6d1f0000-0000-4000-8000-${String(number).padStart(12, '0')}`
const time = (day: number) => `2025-01-${String(day).padStart(2, '0')}T09:00:00.000Z`

/** The provider's form of a customer. */
const customer = (number: number, changes: object = {}) => ({
  ...{ id: id(number), customer_type: 'individual', email: `c${number}@x.test`, phone: '+2348000000001' },
  ...{ created_at: time(number), updated_at: time(number), status: 'active' },
  address: { street1: '1 Quay Rd', street2: null, city: 'Lagos', state: 'LA', postal_code: '100001', country: 'NG' },
  personal_info: { first_name: 'Ada', middle_name: null, last_name: 'Obi', birth_date: '1991-02-28T23:00:00.000Z' },
  financial_info: null,
  ...changes,
})

const address = (number: number, changes: object = {}) => ({
  ...{
    id: id(900 + number),
    address: `0x${String(number).padStart(40, '0')}`,
    network: 'Polygon',
    created_at: time(1),
  },
  ...changes,
})

const wallet = (number: number, changes: object = {}) => ({
  ...{ id: id(100 + number), asset_type: 'STABLECOIN', currency: 'USDC', balance: '1.50', description: 'Savings' },
  ...{ status: 'active', created_at: time(number), updated_at: time(number), customer_id: id(1) },
  ...{ addresses: [address(number)] },
  ...changes,
})

const method = (number: number, changes: object = {}) => ({
  ...{ id: id(200 + number), type: 'BANK', currency: 'NGN', created_at: time(number), updated_at: time(number) },
  ...{
    customer_id: null,
    account_name: 'Ada Obi',
    account_number: '0690000032',
    bank_name: 'Access',
    bank_code: '044',
  },
  ...{ sort_code: null, swift_code: null, routing_number: null, iban: null },
  ...changes,
})

type Lists = {
  readonly customers?: readonly unknown[]
  readonly methods?: readonly unknown[]
  readonly wallets?: readonly unknown[]
}

/** A provider that lists all wallets at `GET /api/wallets`. Pages have two objects. */
const provider =
  (
    { customers = [customer(1)], methods = [], wallets = [] }: Lists,
    { isNewestFirst = true }: { isNewestFirst?: boolean } = {},
  ): ContractClient =>
  async ({ path }) => {
    const { pathname, searchParams } = new URL(path, 'http://provider')
    const pageOf = (list: readonly unknown[]) => {
      const page = Number(searchParams.get('page'))
      const ordered = isNewestFirst ? list.toReversed() : list
      const pagination = { total: list.length, page, limit: 2, totalPages: Math.ceil(list.length / 2) }
      return { status: 200, body: { status: 'success', data: ordered.slice(2 * (page - 1), 2 * page), pagination } }
    }
    if (pathname === '/api/asset-codes') return { status: 200, body: { data: [{ code: 'USDC' }, { code: 'XYZ' }] } }
    if (pathname === '/api/customers') return pageOf(customers)
    if (pathname === '/api/payout/methods') return pageOf(methods)
    if (pathname === '/api/wallets') return pageOf(wallets)
    if (pathname.endsWith('/customer')) return pageOf([])
    return { status: 404, body: null }
  }

const importFrom = (app: App, client: ContractClient): Promise<ImportReport> =>
  runImport(app.context(), client, { walletIds: [], isDryRun: false })

describe.each(everyEngine)('import from another provider on %s', (engine) => {
  test('`import` accepts the provider’s formats, for example the provider’s network names and wallets with a pending status', async () => {
    const app = await startApp(engine)
    const wallets = [
      wallet(1),
      wallet(2, { asset_type: 'FIAT', currency: 'NGN', status: 'pending', balance: '0.00', addresses: [] }),
      wallet(3, { customer_id: null }),
    ]

    const report = await importFrom(app, provider({ customers: [1, 2, 3, 4, 5].map((i) => customer(i)), wallets }))

    expect(report).toMatchObject({ isComplete: true, problems: [], unsupportedAssets: ['XYZ'] })
    const list = (await app.rest('GET', '/api/customers')).body.data
    expect(list.map((row: { id: string }) => row.id)).toEqual([5, 4, 3, 2, 1].map(id))
    expect(list.at(-1)).toMatchObject({
      address: { line_1: '1 Quay Rd', country: 'NG' },
      personal_info: { birth_date: '1991-02-28T23:00:00.000Z' },
    })
    expect((await app.rest('GET', `/api/wallets/${id(101)}`)).body.data).toMatchObject({
      balance: '1.50000000',
      addresses: [{ id: id(901), network: 'polygon', created_at: time(1) }],
    })
    expect((await app.rest('GET', `/api/wallets/${id(102)}`)).body.data.status).toBe('active')
    await app.expectBooksToBalance()
  })

  const notPositive =
    'balance must be a decimal string of at least zero, with at most ten digits before the point and eight after it'
  const future = new Date(Date.now() + 86_400_000).toISOString()

  test.each<[string, Lists, string | null, string]>([
    ['a negative balance', { wallets: [wallet(1, { balance: '-1' })] }, id(101), notPositive],
    ['a balance that is a number', { wallets: [wallet(1, { balance: 1 })] }, id(101), 'balance must be'],
    ['a balance with nine places', { wallets: [wallet(1, { balance: '0.000000001' })] }, id(101), notPositive],
    ['a wallet of an unknown status', { wallets: [wallet(1, { status: 'frozen' })] }, id(101), 'status must be one of'],
    ['an unknown currency', { wallets: [wallet(1, { currency: 'XYZ' })] }, id(101), 'currency XYZ, which is not supp'],
    ['another asset type', { wallets: [wallet(1, { asset_type: 'FIAT' })] }, id(101), 'has the asset type FIAT'],
    [
      'an unknown network',
      { wallets: [wallet(1, { addresses: [address(1, { network: 'doge' })] })] },
      id(101),
      'network',
    ],
    [
      'a wallet of an unknown customer',
      { wallets: [wallet(1, { customer_id: id(7) })] },
      id(101),
      `customer ${id(7)}, which was`,
    ],
    [
      'two wallets with one address',
      { wallets: [wallet(1), wallet(2, { addresses: [address(1)] })] },
      id(102),
      'address',
    ],
    ['a wallet with the id of a customer', { wallets: [wallet(1, { id: id(1) })] }, id(1), 'has the id of a customer'],
    [
      'an id that is not a UUID',
      { customers: [customer(1, { id: 'x'.repeat(99) })] },
      'x'.repeat(36),
      'id must be a UUID',
    ],
    ['a string instead of an object', { customers: ['row'] }, null, 'it must be'],
    ['a text with NUL', { customers: [customer(1, { email: 'a\0b' })] }, id(1), 'email must be text'],
    [
      'a text that is too long',
      { customers: [customer(1, { email: 'a'.repeat(9_999) })] },
      id(1),
      'email must have a length of at most',
    ],
    ['a time in the future', { customers: [customer(1, { created_at: future, updated_at: future })] }, id(1), 'future'],
    ['an invalid time', { customers: [customer(1, { created_at: 'soon' })] }, id(1), 'created_at must be a time'],
    ['an unknown status', { customers: [customer(1, { status: 'frozen' })] }, id(1), 'status must be one of'],
    [
      'two different objects with one id',
      { customers: [customer(1), customer(1, { email: 'other' })] },
      id(1),
      'differs from the row',
    ],
    [
      'a payout method without an account number',
      { methods: [method(1, { account_number: '' })] },
      id(201),
      'account_number',
    ],
    ['a payout method of an unknown type', { methods: [method(1, { type: 'CARD' })] }, id(201), 'type'],
  ])('`import` reports %s, and does not write the invalid object', async (_, lists, wrongId, message) => {
    const app = await startApp(engine)

    const report = await importFrom(app, provider(lists))

    expect(report.isComplete).toBe(false)
    expect(report.problems).toEqual([
      expect.objectContaining({ id: wrongId, problem: expect.stringContaining(message) }),
    ])
    await app.expectBooksToBalance()
  })

  test.each<[string, unknown, RegExp]>([
    ['no list', { data: {} }, /not that of the contract: data/],
    ['no pagination', { data: [] }, /not that of the contract: pagination/],
    ['a list of too many pages', { data: [customer(1)], pagination: { total: 1e9, totalPages: 1e9 } }, /totalPages/],
    ['an empty page', { data: [], pagination: { total: 9, totalPages: 9 } }, /the page is empty/],
    ['a string instead of an object', '<html>', /not that of the contract/],
  ])('`import` stops at a response with %s, and reports the error', async (_, body, message) => {
    const app = await startApp(engine)
    const before = await readStoredRows(app)
    const healthy = provider({})
    const client: ContractClient = async (request) =>
      request.path.startsWith('/api/customers') ? { status: 200, body } : healthy(request)

    await expect(importFrom(app, client)).rejects.toThrow(message)
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('`import` stops if a list changes during each of three reads', async () => {
    const app = await startApp(engine)
    let total = 3
    const client: ContractClient = async (request) =>
      provider({
        customers: Array.from({ length: request.path.includes('customers') ? total++ : 1 }, (_, i) => customer(i + 1)),
      })(request)

    await expect(importFrom(app, client)).rejects.toThrow(/changed during each of 3 reads/)
  })

  test.each([
    { isNewestFirst: true, failing: 'wallets 2', customers: [1, 10, 1, 1], wallets: [1, 10, 3, 3, 2, 1] },
    { isNewestFirst: false, failing: 'wallets 9', customers: [1, 10, 10, 1], wallets: [1, 10, 8, 8, 9, 1] },
  ])(
    'an interrupted `import` resumes, and compares the rows already imported (lists are newest first: $isNewestFirst)',
    async ({ isNewestFirst, failing, ...pages }) => {
      const app = await startApp(engine)
      const numbers = Array.from({ length: 20 }, (_, i) => i + 1)
      const customers = numbers.map((number) => customer(number))
      const wallets = numbers.map((number) => wallet(number))
      const source = provider({ customers, wallets }, { isNewestFirst })
      let read: string[] = []
      const reading =
        (failing: string | null): ContractClient =>
        async (request) => {
          const [, path, page] = /^\/api\/(.*)\?limit=100&page=(\d+)$/.exec(request.path) ?? []
          if (path !== undefined) read.push(`${path} ${page}`)
          if (`${path} ${page}` === failing) throw new Error('killed')
          return source(request)
        }
      await expect(importFrom(app, reading(failing))).rejects.toThrow('killed')

      customers[2] = customer(3, { email: 'new@x.test' })
      wallets[3] = wallet(4, { description: 'New' })
      read = []
      const report = await importFrom(app, reading(null))

      expect(read.slice(0, 4)).toEqual(pages.customers.map((page) => `customers ${page}`))
      expect(read.slice(5, 11)).toEqual(pages.wallets.map((page) => `wallets ${page}`))
      expect(report.rows.map(({ imported, same, problems }) => [imported, same, problems])).toEqual([
        [0, 19, 1],
        [0, 0, 0],
        [4, 15, 1],
      ])
      expect(report.problems.map((each) => each.id)).toEqual([id(104), id(3)])
      expect(report.balancesCompared).toBe(20)
    },
  )

  test('`import` reads at most three batches of four pages ahead of its writes', async () => {
    const app = await startApp(engine)
    const customers = Array.from({ length: 100 }, (_, i) => customer(1, { id: id(i) }))
    const source = provider({ customers, wallets: [wallet(1, { id: id(101) })] })
    let [read, written, maxAhead] = [0, 0, 0]
    const client: ContractClient = (request) => {
      if (request.path.startsWith('/api/customers')) maxAhead = Math.max(maxAhead, ++read - written / 2)
      return source(request)
    }
    const onProgress = (label: string, done: number) => {
      if (label === 'customers') written = done
    }

    await runImport(app.context(), client, { walletIds: [], isDryRun: false, onProgress })

    expect(written).toBe(100)
    // One page is read first, and then three batches of four pages.
    expect(maxAhead).toBe(13)
  })

  test('`import` does not recreate a payout method that was deleted after an earlier import', async () => {
    const app = await startApp(engine)
    const source = provider({ methods: [method(1), method(2)] })
    await importFrom(app, source)
    await app.rest('DELETE', `/api/payout/methods/${id(201)}`)

    expect((await importFrom(app, source)).problems).toEqual([
      { object: 'payout methods', id: id(201), problem: 'was deleted here; it was not created again' },
    ])
  })
})

/** Starts an HTTP server. */
async function serve(respond: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(respond ?? (() => {}))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('`import` sends at most four concurrent requests, and waits after a 429 and when no requests of the rate limit remain', async () => {
  const app = await startApp('sqlite')
  const source = provider({ customers: Array.from({ length: 20 }, (_, i) => customer(i + 1)) })
  let [open, maxOpen, count] = [0, 0, 0]
  const url = await serve(async (request, response) => {
    maxOpen = Math.max(maxOpen, ++open)
    response.on('close', () => open--)
    const number = ++count
    if (number === 3) {
      response.writeHead(429, { 'retry-after': '1' }).end()
      return
    }
    await delay(20)
    const { status, body } = await source({ method: 'GET', path: String(request.url) })
    // Four requests are in flight, so this one is sent after the wait for the third.
    const isLast = number === 12
    const limits = { 'ratelimit-policy': '600;w=60', 'ratelimit-remaining': isLast ? '0' : '9', 'ratelimit-reset': '1' }
    response.writeHead(status, limits).end(JSON.stringify(body))
  })
  const startedAt = performance.now()
  const limits: object[] = []

  const client = createContractClient(url, 'key', { onRateLimit: (limit) => limits.push(limit) })
  const report = await importFrom(app, client)

  expect(report.isComplete).toBe(true)
  expect(maxOpen).toBe(4)
  expect(performance.now() - startedAt).toBeGreaterThan(1_900)
  expect(limits[0]).toEqual({ limit: 600, windowSeconds: 60 })
})

test('`import` stops if a response body exceeds the size limit, or if the API key is rejected', async () => {
  const app = await startApp('sqlite')
  const huge = await serve((_, response) => {
    response.writeHead(200)
    const write = () => {
      while (!response.destroyed && response.write(Buffer.alloc(1_000_000, ' '))) {}
    }
    response.on('drain', write)
    write()
  })
  const closed = await serve((_, response) => void response.writeHead(401).end('{}'))

  await expect(importFrom(app, createContractClient(huge, 'key'))).rejects.toThrow(/more than 20971520 bytes/)
  await expect(importFrom(app, createContractClient(closed, 'key'))).rejects.toThrow(/401\. Check the API key\./)
})

test('the command `import` reads saved responses, prints a JSON report, and exits with code 1 if balances differ', async () => {
  const app = await startApp('sqlite')
  const place = await createEmptyInstallation({ DATABASE_URL: app.url })
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const save = async (name: string, data: unknown, total = 1) => {
    await mkdir(join(folder, name, '..'), { recursive: true })
    const pagination = { total, totalPages: Math.ceil(total / 2) }
    await writeFile(join(folder, name), JSON.stringify(Array.isArray(data) ? { data, pagination } : { data }))
  }
  await save('asset-codes.json', [])
  await save('customers/1.json', [customer(3), customer(2)], 3)
  await save('customers/2.json', [customer(1)], 3)
  await save('payout-methods/1.json', [method(1)])
  for (const number of [1, 2, 3]) await save(`customer-wallets/${id(number)}/1.json`, [], 0)
  await save(`customer-wallets/${id(1)}/1.json`, [wallet(1, { addresses: { address: '0x', network: 'erc20' } })])
  await save(`wallet/${id(101)}.json`, wallet(1))
  await save(`wallet/${id(105)}.json`, wallet(5, { customer_id: null }))
  const words = ['import', app.merchant.id, '--from-dir', folder, '--wallet', id(105), '--json']

  const dry = await cli(place, ...words, '--dry-run')
  const first = await cli(place, ...words, '--reason', 'moving in')
  await save(`wallet/${id(105)}.json`, wallet(5, { customer_id: null, balance: '2' }))
  const second = await cli(place, ...words)

  expect([dry.code, first.code, second.code]).toEqual([0, 0, 1])
  expect(JSON.parse(dry.stdout)).toMatchObject({ isDryRun: true, problems: [], totals: [] })
  expect(JSON.parse(first.stdout)).toMatchObject({
    isComplete: true,
    totals: [{ currency: 'USDC', wallets: 2, source: '3.00000000', here: '3.00000000', isEqual: true }],
  })
  expect(JSON.parse(second.stdout).balanceDifferences).toEqual([
    { walletId: id(105), currency: 'USDC', source: '2.00000000', here: '1.50000000' },
  ])
  expect(await createSavedResponseClient(folder)({ method: 'GET', path: '/api/merchants' })).toEqual({
    status: 404,
    body: null,
  })
})
