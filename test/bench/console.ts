/**
 * The console with many payouts compared with the console with 10,000, in the same run: `npm run bench:console`.
 *
 * The databases have the same four merchants, customers, payout methods and wallets, and payouts of the last 90 days,
 * most of them of the first merchant. `--payouts n` is the larger number (by default 1,000,000); `--database file`
 * keeps the larger database in that file, and the smaller one in `file.10000`, for the next run; `--only <page>` (may be
 * repeated) measures only that page. A million payouts take about three minutes to fill and seal, and 2.1 GB.
 *
 * Requests alternate between the databases; the figure is the ratio of the medians of processor time per request, and
 * more than 1.5 fails (2 for the page of a wallet). With a million payouts, more than 50 ms of a page of the larger
 * database fails too.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openDatabase } from '../../src/app/open-database.ts'
import type { ConsoleAccess } from '../../src/console/console-access.ts'
import { createConsole } from '../../src/console/console-host.ts'
import { createAuditRun } from '../../src/console/console-page.ts'
import { createSession } from '../../src/console/console-session.ts'
import { seedLoadData } from '../../src/demo/load/seed.ts'
import { unsealedMerchants } from '../../src/modules/hash-chain/repository.ts'
import { startSealer } from '../../src/modules/hash-chain/sealer.ts'
import { allMerchants } from '../../src/modules/merchants/repository.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import type { Service } from '../../src/operations/context.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import { service as serviceSpec } from './measures.ts'
import { startServer } from './servers.ts'
import { median } from './statistics.ts'

const { values } = parseArgs({
  options: {
    payouts: { type: 'string', default: '1000000' },
    database: { type: 'string' },
    only: { type: 'string', multiple: true },
  },
})
const limitOfRatio = 1.5
/** The search for the balances of a wallet on 30 days needs more rounds among more entries. */
const limitOfWalletRatio = 2
const maxCpuMs = 50
const smallPayouts = 10_000
const largePayouts = Number(values.payouts)
const shareOfMerchants = [0.7, 0.1, 0.1, 0.1]
const rounds = 60
const warmUpRounds = 10
const requestsPerRound = 2
const startRounds = 5
const serviceStart = 'start of the service'

const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const largePath = values.database ?? join(folder, 'console.sqlite')

/** Gives every request a session that may act. */
const session = createSession({
  ...{ actor: { operator: 'bench', session: 'bench' }, role: 'act', signIn: null },
  end: () => {},
})
const access: ConsoleAccess = {
  ...{ basePath: '', trustedProxies: 0, canBeLinkedTo: false, errorHint: '' },
  originOf: () => 'http://console.test',
  findSession: async () => session,
  addRoutes: () => {},
  sendWithoutSession: (_, reply) => reply.code(403).send(),
  sendEnded: (reply) => reply.send(),
}

const sides = [await openSide(`${largePath}.${smallPayouts}`, smallPayouts), await openSide(largePath, largePayouts)]

let hasFailed = false
type Side = Awaited<ReturnType<typeof openSide>>
const pages: Readonly<Record<string, (side: Side, request: number) => string>> = {
  overview: () => '/',
  ...listPages(['payouts', 'deposits', 'customers', 'wallets', 'payout-methods', 'webhooks', 'webhooks/deliveries']),
  'payouts, all merchants, status=FAILED': () => '/payouts?status=FAILED',
  'payouts, status=FAILED': ({ merchantId }) => `/payouts?status=FAILED&merchant=${merchantId}`,
  'payouts, asset=USDC': ({ merchantId }) => `/payouts?asset=USDC&merchant=${merchantId}`,
  'payouts, created-from': ({ merchantId, weekAgo }) => `/payouts?created-from=${weekAgo}&merchant=${merchantId}`,
  'payouts of a customer': ({ merchantId, shown }) => `/payouts?customer=${shown.customerId}&merchant=${merchantId}`,
  'deposits, asset=USDC': ({ merchantId }) => `/deposits?asset=USDC&merchant=${merchantId}`,
  merchants: () => '/merchants',
  attention: () => '/attention',
  rails: () => '/rails',
  'operator log': () => '/log',
  'rates and fees': () => '/prices',
  'search for a transaction id': ({ spread }, request) => `/search?term=${pick(spread, request).transactionId}`,
  'search for an id': ({ spread }, request) => `/search?term=${pick(spread, request).id}`,
  'search for the beginning of a name': () => '/search?term=ad',
  payout: ({ spread }, request) => `/payouts/${pick(spread, request).id}`,
  customer: ({ shown }) => `/customers/${shown.customerId}`,
  wallet: ({ shown }) => `/wallets/${shown.walletId}`,
  merchant: ({ merchantId }) => `/merchants/${merchantId}`,
}

const isMeasured = (name: string) => values.only?.includes(name) ?? true
for (const [name, urlOf] of Object.entries(pages)) if (isMeasured(name)) await comparePage(name, urlOf)
for (const { close } of sides) await close()
if (isMeasured(serviceStart)) await compareStarts()
process.exitCode = hasFailed ? 1 : 0

function listPages(paths: readonly string[]): typeof pages {
  return Object.fromEntries(
    paths.flatMap((path) => [
      [`${path}, all merchants`, () => `/${path}`],
      [path, ({ merchantId }: Side) => `/${path}?merchant=${merchantId}`],
    ]),
  )
}

async function openSide(path: string, payoutCount: number) {
  const db = await openDatabase({
    url: `sqlite:${path}`,
    onFatal: (error) => {
      throw error
    },
  })
  const filling = createService({ db, mode: 'sandbox' })
  if ((await allMerchants(db, {})).length === 0) await fill(filling, payoutCount)
  await sealAll(filling)
  // Payouts of a small database end earlier, and a day without payouts has fewer figures.
  const latest = await latestPayoutTime(filling)
  const service = createService({ db, mode: 'sandbox', clock: () => latest })
  const app = createConsole(
    { service, rails: [], auditRun: createAuditRun() },
    {
      access,
      onError: (error) => {
        throw error
      },
    },
  )
  const render = async (url: string) => {
    const { statusCode, body } = await app.inject({ url, headers: { host: 'console.test' } })
    if (statusCode !== 200 && statusCode !== 303) throw new Error(`${url}: ${statusCode} ${body}`)
    return body
  }
  return { path, render, close: db.close, ...(await shownObjects(service)) }
}

async function fill(service: Service, payoutCount: number): Promise<void> {
  for (const [place, share] of shareOfMerchants.entries()) {
    const sizes = { merchants: 1, customers: 100, methods: 50, wallets: 20, payouts: Math.round(payoutCount * share) }
    await seedLoadData(service, { ...sizes, seed: place + 1 })
  }
}

async function latestPayoutTime(service: Service): Promise<number> {
  const [merchant] = await allMerchants(service.db, {})
  const { items } = await payouts.page(createContext(service, merchant?.id ?? ''), { limit: '1' })
  return Date.parse(items[0]?.createdAt ?? '')
}

/** Also stores the statistics. */
async function sealAll(service: Service): Promise<void> {
  const { db } = service
  const merchantIds = (await allMerchants(db, {})).map(({ id }) => id)
  const sealer = startSealer({
    service,
    restRatio: 0,
    onError: (error) => {
      throw error
    },
  })
  while ((await unsealedMerchants(db, { merchantIds })).length > 0) {
    await sealer.poll()
    db.refresh()
  }
  await sealer.stop()
}

/** Returns the merchant with the most payouts, one of its customers, and payouts from its first to its latest. */
async function shownObjects(service: Service) {
  const [merchant] = await allMerchants(service.db, {})
  const merchantId = merchant?.id ?? ''
  const context = createContext(service, merchantId)
  const { total } = await payouts.page(context, { limit: '1' })
  const spread = []
  for (let place = 0; place < 50; place++) {
    const page = String(1 + Math.floor((place * (total - 1)) / 49))
    spread.push(...(await payouts.page(context, { page, limit: '1' })).items)
  }
  // The first payouts of both databases are the same.
  const shown = spread.findLast(({ customerId }) => customerId !== null)
  if (!shown) throw new Error('no payout has a customer')
  const weekAgo = new Date(service.now() - 7 * 86_400_000).toISOString().slice(0, 10)
  return { merchantId, spread, shown, weekAgo }
}

function pick<Item>(items: readonly Item[], place: number): Item {
  return items[place % items.length] as Item
}

async function comparePage(name: string, urlOf: (side: Side, request: number) => string): Promise<void> {
  const times: number[][] = sides.map(() => [])
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const [place, side] of sides.entries()) {
      const before = process.cpuUsage()
      for (let i = 0; i < requestsPerRound; i++) await side.render(urlOf(side, Math.abs(round) * requestsPerRound + i))
      const { user, system } = process.cpuUsage(before)
      if (round >= 0) times[place]?.push((user + system) / 1_000 / requestsPerRound)
    }
  }
  report(name, times.map(median), largePayouts <= 1_000_000 ? maxCpuMs : Number.POSITIVE_INFINITY)
}

/** Until the service listens. */
async function compareStarts(): Promise<void> {
  const times: number[][] = sides.map(() => [])
  // The first start reads the files of the program from disk.
  for (let round = -1; round < startRounds; round++) {
    for (const [place, { path }] of sides.entries()) {
      const server = await startServer(serviceSpec(`sqlite:${path}`), folder)
      if (round >= 0) times[place]?.push(server.startCpuMs)
      await server.end()
    }
  }
  report(serviceStart, times.map(median), Number.POSITIVE_INFINITY)
}

function report(name: string, [small = 1, large = 1]: readonly number[], maxMs: number): void {
  const isOver = large / small > (name === 'wallet' ? limitOfWalletRatio : limitOfRatio) || large > maxMs
  hasFailed ||= isOver
  process.stdout.write(
    `${name}: ${small.toFixed(2)} ms, ${large.toFixed(2)} ms, ×${(large / small).toFixed(2)}${isOver ? '  OVER' : ''}\n`,
  )
}
