/**
 * The last page compared with the first and the middle one, in the same run, and searches: `npm run bench:pages`.
 *
 * A merchant with 1,000,000 payouts and 100,000 payout methods (smaller with `--payouts n --methods n`; `--database
 * file` keeps the data for the next run; `--postgres` uses a new PostgreSQL server instead of a file). Requests
 * alternate between the pages, so that noise affects all alike; the figure is the ratio of medians, and more than 1.5
 * fails. On PostgreSQL the ratio has no limit, because the first page of most lists needs fewer round trips. A search
 * fails above 5 ms of processor time, of the service and the PostgreSQL server together.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { openDatabase } from '../../src/app/open-database.ts'
import { seedLoadData } from '../../src/demo/load/seed.ts'
import { listCustomers } from '../../src/modules/customers/list-customers.ts'
import { allMerchants } from '../../src/modules/merchants/repository.ts'
import { searchAcrossMerchants } from '../../src/modules/operators/search-across-merchants.ts'
import { payoutMethods } from '../../src/modules/payout-methods/list.ts'
import { payouts as payoutList } from '../../src/modules/payouts/list.ts'
import { search } from '../../src/modules/search/search.ts'
import { transactions } from '../../src/modules/transactions/list-transactions.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import { nonDurableSettings, startPostgresServer } from '../support/postgres-server.ts'
import { postgresCpuMs } from './servers.ts'
import { median } from './statistics.ts'

const { values } = parseArgs({
  options: {
    payouts: { type: 'string', default: '1000000' },
    methods: { type: 'string', default: '100000' },
    database: { type: 'string' },
    postgres: { type: 'boolean', default: false },
  },
})
const limitOfRatio = 1.5
const maxSearchMs = 5
const rounds = 400

const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-bench-'))
const server = values.postgres ? await startPostgresServer(nonDurableSettings) : null
const db = await openDatabase({
  url: server?.url('postgres') ?? `sqlite:${values.database ?? join(folder, 'pages.sqlite')}`,
  onFatal: (error) => {
    throw error
  },
})
const service = createService({ db, mode: 'sandbox' })
const [known] = await allMerchants(db, {})
const [merchant] = known
  ? [known]
  : await seedLoadData(service, {
      merchants: 1,
      customers: 1000,
      methods: Number(values.methods),
      wallets: 100,
      payouts: Number(values.payouts),
      seed: 1,
    })
const context = createContext(service, merchant?.id ?? '')
// Autovacuum, which also collects planner statistics, is off.
if (server !== null) await vacuum(server.url('postgres'))

const limit = '20'
const payouts = (page: number) => () => payoutList.page(context, { page: String(page), limit })
const transactionPages = (page: number) => () => transactions.page(context, { page: String(page), limit })
const methods = (page: number, filter: object) => () =>
  payoutMethods.page(context, { page: String(page), limit, ...filter })

let hasFailed = false
await compare('payouts', payouts)
await compare('transactions', transactionPages)
await compare('payout methods', (page) => methods(page, {}))
await compare('payout methods, type=BANK', (page) => methods(page, { type: 'BANK' }))
await compare('payout methods, customer_id=null', (page) => methods(page, { owner: null }))
const [newest] = (await payoutList.page(context, { limit: '1' })).items
const [customer] = (await listCustomers(context, { limit: '1' })).items
const searches = {
  'a transaction id': newest?.transactionId ?? '',
  'an account number': newest?.accountNumber ?? '',
  'an e-mail address': customer?.email ?? '',
  'the first letter of names': 'a',
  'what nothing has': 'no such thing',
}
for (const [about, term] of Object.entries(searches)) {
  await measureSearch(`search for ${about}`, () => search(context, { term }))
  await measureSearch(`find ${about}`, () => searchAcrossMerchants(service, { term }))
}
await measureSearch('customers, search=a', () => listCustomers(context, { search: 'a' }))
await db.close()
await server?.remove()
rmSync(folder, { recursive: true })
process.exitCode = hasFailed ? 1 : 0

type List = (page: number) => () => Promise<{ total: number; items: readonly unknown[] }>

async function compare(name: string, list: List): Promise<void> {
  const { total } = await list(1)()
  // The last full page, so that all pages have as many rows.
  const last = Math.floor(total / Number(limit))
  const pages = { first: list(1), middle: list(Math.ceil(last / 2)), last: list(last) }
  const times: Record<string, number[]> = { first: [], middle: [], last: [] }
  for (let round = 0; round < rounds; round++) {
    for (const [place, read] of Object.entries(pages)) {
      const start = process.hrtime.bigint()
      for (let i = 0; i < 5; i++) await read()
      times[place]?.push(Number(process.hrtime.bigint() - start) / 5_000)
      // A new event loop turn, and so a new read transaction, as between requests.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const [first = 1, middle = 1, end = 1] = Object.values(times).map(median)
  const isOver = server === null && end / first > limitOfRatio
  hasFailed ||= isOver
  process.stdout.write(
    `${name} (${total}): first ${first.toFixed(1)} µs, middle ×${(middle / first).toFixed(2)}, ` +
      `last ×${(end / first).toFixed(2)}${isOver ? `  OVER ${limitOfRatio}` : ''}\n`,
  )
}

async function vacuum(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query('vacuum analyze')
  await client.end()
}

async function measureSearch(name: string, run: () => Promise<object>): Promise<void> {
  const times: number[] = []
  const serverMsBefore = server === null ? 0 : postgresCpuMs()
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage()
    await run()
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / 1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const serverMs = server === null ? 0 : (postgresCpuMs() - serverMsBefore) / rounds
  const cpuMs = median(times) + serverMs
  const isOver = cpuMs > maxSearchMs
  hasFailed ||= isOver
  process.stdout.write(`${name}: ${cpuMs.toFixed(2)} ms of processor time${isOver ? `  OVER ${maxSearchMs}` : ''}\n`)
}
