/**
 * The cost of a payout on both engines: each statement with its bound values, each index and its growth in bytes, the
 * write-ahead log, CPU time: `npm run bench:payout`, as Markdown.
 *
 * Only the purposes of indexes are declared (index-purposes.ts). Everything else is observed, from the connections'
 * statements and the engine's storage, while payouts run through the service's own operation on a fresh database.
 * Fails if an index has no purpose.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/app/open-database.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import { perform } from '../support/perform.ts'
import { startPostgresServer } from '../support/postgres-server.ts'
import { richMerchants } from './data.ts'
import { purposeOf } from './index-purposes.ts'
import { table } from './report.ts'
import { postgresCpuMs } from './servers.ts'
import { median } from './statistics.ts'
import type { Storage, StoredObject } from './stored-objects.ts'
import { postgresStorage, sqliteStorage } from './stored-objects.ts'
import type { ExecutedStatement } from './watch-statements.ts'
import { watchStatements } from './watch-statements.ts'

const groupSize = 64
const warmUps = 5
const rounds = 20

const request = {
  assetCode: 'USDC',
  amount: '1',
  accountNumber: '0690000032',
  bankName: 'Access Bank',
  bankCode: '044',
  recipientName: 'Ada Obi',
  recipientCurrency: 'NGN',
  recipientCountry: 'Nigeria',
  paymentPurpose: 'GIFTS',
} as const

/** The cost of payouts made in one way; all but the statements are per payout. */
type Cost = {
  readonly way: string
  readonly ran: readonly ExecutedStatement[]
  readonly roundTrips: number
  readonly logBytes: number
  readonly cpuMicros: number
  readonly serverCpuMicros: number
  readonly payouts: number
}

const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const path = join(folder, 'payouts.sqlite')
const server = await startPostgresServer(['autovacuum=off'])
const unexplained = new Set<string>()
try {
  await show('SQLite', `sqlite:${path}`, () =>
    sqliteStorage(path, () => Math.max(0, statSync(`${path}-wal`).size - 32)),
  )
  await show('PostgreSQL', server.url('postgres'), () => postgresStorage(server.url('postgres')))
} finally {
  await server.remove()
}
if (unexplained.size > 0) {
  process.stderr.write(`index-purposes.ts has no purpose for ${[...unexplained].join(', ')}\n`)
  process.exitCode = 1
}

async function show(engine: string, url: string, openStorage: () => Storage | Promise<Storage>): Promise<void> {
  const merchants = (await richMerchants(url, groupSize)).map(({ id }) => id)
  const db = await openDatabase({ url, onFatal: fail })
  const service = createService({ db, mode: 'sandbox' })
  let payoutCount = 0
  const pay = (merchantId = '') =>
    perform(createPayout, createContext(service, merchantId, `cost-${payoutCount++}`), request)
  const ways: Record<string, () => Promise<unknown>> = {
    alone: () => inTurn(Array.from({ length: groupSize }, () => () => pay(merchants[0]))),
    [`${groupSize} of one merchant`]: () => Promise.all(merchants.map(() => pay(merchants[0]))),
    [`${groupSize} of ${groupSize} merchants`]: () => Promise.all(merchants.map(pay)),
  }
  const storage = await openStorage()
  for (const work of Object.values(ways)) for (let round = 0; round < warmUps; round++) await work()
  const { ran } = await watchStatements(ways.alone as () => Promise<unknown>)
  const tables = [...new Set(ran.flatMap(({ text }) => writtenBy(text) ?? []))]
  const before = await storage.stored(tables)
  const madeBefore = payoutCount
  const costs: Cost[] = []
  for (const [way, work] of Object.entries(ways)) costs.push(await costOf(way, work, storage))
  const after = await storage.stored(tables)
  const payouts = payoutCount - madeBefore

  print(`## ${engine}\n`)
  print(costTable(costs, storage.logPageBytes))
  print(statementTable(costs))
  const grown = after.map((each, place) => ({
    ...each,
    bytes: each.bytes === null ? null : (each.bytes - (before[place]?.bytes ?? 0)) / payouts,
  }))
  const guards = await storage.guards(tables)
  print(
    table(
      ['table', 'columns', 'foreign keys', 'triggers', 'bytes a payout'],
      guards.map(({ table: name, ...counts }) => [
        name,
        String(counts.columns),
        String(counts.foreignKeys),
        String(counts.triggers),
        bytesText(grown.find((each) => each.table === name && each.index === null)?.bytes),
      ]),
    ),
  )
  print(indexTable(grown))
  await storage.close()
  await db.close()
}

async function costOf(way: string, work: () => Promise<unknown>, storage: Storage): Promise<Cost> {
  const payouts = rounds * groupSize
  const ran: ExecutedStatement[] = []
  let [roundTrips, logBytes, cpu, serverCpuMs] = [0, 0, 0, 0]
  for (let round = 0; round < rounds; round++) {
    await storage.restartLog()
    const [logBefore, cpuBefore, serverBefore] = [await storage.logBytes(), process.cpuUsage(), postgresCpuMs()]
    const watched = await watchStatements(work)
    const { user, system } = process.cpuUsage(cpuBefore)
    cpu += user + system
    serverCpuMs += postgresCpuMs() - serverBefore
    logBytes += (await storage.logBytes()) - logBefore
    roundTrips += watched.roundTrips
    ran.push(...watched.ran)
  }
  return {
    way,
    ran,
    payouts,
    roundTrips: roundTrips / payouts,
    logBytes: logBytes / payouts,
    cpuMicros: cpu / payouts,
    serverCpuMicros: (serverCpuMs * 1_000) / payouts,
  }
}

function costTable(costs: readonly Cost[], logPageBytes: number | null): string {
  return table(
    [
      'of a payout',
      'statements',
      'bound values',
      ...(logPageBytes === null ? ['round trips'] : ['pages of the log']),
      'bytes of the log',
      'CPU µs',
      ...(logPageBytes === null ? ["the server's CPU µs"] : []),
    ],
    costs.map((cost) => [
      cost.way,
      (cost.ran.length / cost.payouts).toFixed(2),
      (cost.ran.reduce((sum, { values }) => sum + values, 0) / cost.payouts).toFixed(1),
      (logPageBytes === null ? cost.roundTrips : cost.logBytes / logPageBytes).toFixed(2),
      cost.logBytes.toFixed(0),
      cost.cpuMicros.toFixed(0),
      ...(logPageBytes === null ? [cost.serverCpuMicros.toFixed(0)] : []),
    ]),
  )
}

/** Every statement in the order of a lone payout, with its executions per payout in each way. */
function statementTable(costs: readonly Cost[]): string {
  const texts = [...new Set(costs.flatMap(({ ran }) => ran.map(({ text }) => text)))]
  const ranOf = (cost: Cost | undefined, text: string) => cost?.ran.filter((each) => each.text === text) ?? []
  const inGroup = costs[1]
  return table(
    [
      'statement',
      'table',
      'bound values',
      'rows',
      'once a',
      ...costs.map(({ way }) => way),
      ...(costs.some(({ ran }) => ran.some(({ micros }) => micros !== null)) ? ['µs alone', 'µs in a group'] : []),
    ],
    texts.map((text) => {
      const all = costs.flatMap((cost) => ranOf(cost, text))
      const timed = (cost: Cost | undefined) => {
        const times = ranOf(cost, text).flatMap(({ micros }) => micros ?? [])
        return times.length === 0 ? '' : median(times).toFixed(1)
      }
      return [
        shortened(text),
        writtenBy(text) ?? readBy(text),
        String(all[0]?.values ?? 0),
        String(median(all.map(({ rows }) => rows))),
        ranOf(inGroup, text).length < (rounds * groupSize) / 2 ? 'group' : 'payout',
        ...costs.map((cost) => (ranOf(cost, text).length / cost.payouts).toFixed(2)),
        ...(all.some(({ micros }) => micros !== null) ? [timed(costs[0]), timed(inGroup)] : []),
      ]
    }),
  )
}

function indexTable(grown: readonly StoredObject[]): string {
  return table(
    ['index', 'columns', 'unique', 'bytes a payout', 'who needs it'],
    grown.flatMap(({ index, columns, isUnique, bytes }) => {
      if (index === null) return []
      const purpose = purposeOf(index)
      if (purpose === null) unexplained.add(index)
      return [[index, columns, isUnique ? 'yes' : '', bytesText(bytes), purpose ?? '?']]
    }),
  )
}

function bytesText(bytes: number | null | undefined): string {
  return bytes == null ? 'the table' : bytes.toFixed(0)
}

/** The table that a statement changes; `null` for a read. */
function writtenBy(text: string): string | null {
  return /\b(?:insert into|update|delete from) "(\w+)"/i.exec(text)?.[1] ?? null
}

function readBy(text: string): string {
  return [...new Set([...text.matchAll(/\b(?:from|join) "(\w+)"/gi)].map(([, name]) => name))].join(', ')
}

/** A statement without its lists of columns and values. */
function shortened(text: string): string {
  const words = text
    .replace(/\s+/g, ' ')
    .replaceAll('"', '')
    .replace(/((?:\w+\.)?\w+, ){4,}(?:\w+\.)?\w+/g, (columns) => `${columns.split(', ').length} columns`)
    .replace(/(\+?[?$]\d*, ){2,}\+?[?$]\d*/g, '…')
    .replaceAll('|', '\\|')
  return `\`${words.length > 160 ? `${words.slice(0, 160)}…` : words}\``
}

async function inTurn(works: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const work of works) await work()
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function fail(error: Error): never {
  throw error
}
