/**
 * The service compared with likely alternatives in the same run: `npm run bench`, in three minutes with `-- --quick`.
 * The full form takes twenty minutes, and first a quarter of an hour to fill a million payout methods and a million
 * payouts: keep them with `--data`.
 *
 * The operator's own `fill` generates the data, every server runs in a separate process, compared servers must return
 * the same response, and the load alternates between them. Trust the CPU time of a request: requests per second share
 * the machine with other load. Fails if a ratio falls short by both figures, or by the one that its target names.
 *
 *   --only <measure>      only that measure; may be repeated
 *   --profile <measure>   the service's CPU time under that load, by phase and by function; may be repeated
 *   --data <folder>       keeps the data there for the next run
 *   --write <title>       writes the output into RESULTS.md, as the section of this title
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startPostgresServer } from '../support/postgres-server.ts'
import { createBenchDatabase, richMerchants } from './data.ts'
import { lastPayouts } from './documents.ts'
import { loader, sendOnce } from './load.ts'
import type { Measure } from './measures.ts'
import { service } from './measures.ts'
import { growth, pages, workers } from './measures-of-growth.ts'
import type { Payers, PostgresPayoutMerchants } from './measures-of-payouts.ts'
import { databasesOnPostgres, payouts, payoutsThroughApis, postgresPayouts } from './measures-of-payouts.ts'
import { graphqlReads, graphqlWays, restReads } from './measures-of-reads.ts'
import { profileOf } from './profile.ts'
import type { Row } from './report.ts'
import { costRow, isShort, measureTable, profileTables, rowsOf, summaryTable, writeSection } from './report.ts'
import { runMeasure } from './run-measure.ts'
import { startServer } from './servers.ts'
import type { StartUp } from './start-up.ts'
import { startUps } from './start-up.ts'
import { yardstickVersions } from './yardsticks.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    profile: { type: 'string', multiple: true },
    data: { type: 'string' },
    write: { type: 'string' },
  },
})
const isQuick = values.quick
const windows = isQuick
  ? { warmUpMs: 1_000, seconds: 1, maxSeconds: 2, rounds: 3 }
  : { warmUpMs: 4_000, seconds: 3, maxSeconds: 8, rounds: 7 }
/** Paying merchants, one for each client. */
const payers = 64
const smallSizes = { customers: 1_000, methods: 2_000, wallets: 500, payouts: 10_000 }
const largeSizes = isQuick
  ? { ...smallSizes, methods: 10_000, payouts: 50_000 }
  : { ...smallSizes, methods: 1_000_000, payouts: 1_000_000 }

const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
// An interrupt ends the servers together with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
const dataFolder = values.data ?? folder
mkdirSync(dataFolder, { recursive: true })
const small = () => createBenchDatabase(dataFolder, 'small', smallSizes)
const large = () => createBenchDatabase(dataFolder, isQuick ? 'medium' : 'large', largeSizes)
/** Cleanup to run at the end. */
const endings: (() => Promise<void>)[] = []

/**
 * Measures with shared data, by name; only requested groups are prepared, and the quick run requests none of the long
 * ones.
 */
const groups: readonly {
  readonly names: readonly string[]
  readonly measures: () => Promise<Measure[]>
  readonly isLong?: boolean
}[] = [
  { names: ['list', 'wallet'], measures: async () => restReads(await small()) },
  { names: ['q1', 'q2', 'q3', 'customer', 'methods'], measures: async () => graphqlReads(await small(), { isQuick }) },
  { names: ['ways-q1', 'ways-q2'], measures: async () => graphqlWays(await small()), isLong: true },
  {
    names: ['payouts-1', 'payouts-16', 'payouts', 'payouts-256'],
    measures: async () => payouts(await small(), folder, { isQuick }),
  },
  { names: ['graphql-payouts'], measures: async () => [payoutsThroughApis(await small(), folder)] },
  {
    names: ['postgres-spread', 'postgres-hot'],
    measures: async () => postgresPayouts(await onFile(), await onPostgres(), { isQuick }),
  },
  { names: ['page', 'cursor'], measures: async () => pages(await large(), await lastCursor()), isLong: true },
  { names: ['growth'], measures: async () => [growth(await large(), await small())], isLong: true },
  { names: ['workers'], measures: workersWhereThereAre },
]

const report: string[] = []
const rows: Row[] = []
try {
  if (values.profile) await profile(values.profile)
  else await compare()
  if (values.write !== undefined) writeSection(join(import.meta.dirname, 'RESULTS.md'), values.write, report)
} finally {
  for (const end of endings) await end()
}

async function compare(): Promise<void> {
  const startedAt = performance.now()
  print(`${isQuick ? 'Quick' : 'Full'} run of ${new Date().toISOString().slice(0, 10)}. ${machine()}\n`)
  for await (const measure of asked(values.only)) {
    const figures = await runMeasure(measure, windows, folder)
    rows.push(...rowsOf(measure, figures))
    print(measureTable(measure, figures))
  }
  if (values.only ? values.only.includes('start') : !isQuick) await compareStarts()
  print(summaryTable(rows))
  print(`${((performance.now() - startedAt) / 60_000).toFixed(1)} minutes.`)
  process.exitCode = rows.some(isShort) ? 1 : 0
}

async function profile(names: readonly string[]): Promise<void> {
  for await (const measure of asked(names))
    print(profileTables(measure, await profileOf(measure, isQuick ? 5 : 15, folder)))
}

/** The measures of these names, or all; each group is prepared just before its measures run. */
async function* asked(names: readonly string[] | undefined): AsyncGenerator<Measure> {
  const known = [...groups.flatMap((group) => group.names), 'start']
  const unknown = names?.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`There is no measure ${unknown}. Choose one of: ${known.join(', ')}`)
  for (const group of groups) {
    const isAsked = names ? group.names.some((name) => names.includes(name)) : !(isQuick && group.isLong)
    if (!isAsked) continue
    for (const measure of await group.measures()) if (!names || names.includes(measure.name)) yield measure
  }
}

/** Start-up time and idle memory with many payouts compared with few. */
async function compareStarts(): Promise<void> {
  const databases = [await large(), await small()]
  const [many, few] = await startUps(databases, isQuick ? 2 : 7, folder)
  if (!many || !few) return
  const [of, than = ''] = databases.map(({ sizes }) => `${sizes.payouts} payouts`)
  const describeStartUp = ({ startMs, cpuMs, memoryMiB }: StartUp) =>
    `${startMs.toFixed(0)} ms (${cpuMs.toFixed(0)} ms of CPU) and holds ${memoryMiB.toFixed(0)} MiB`
  print(`The service starts with ${of} in ${describeStartUp(many)}, with ${than} in ${describeStartUp(few)}.\n`)
  const target = { against: than, reach: 1.1, aim: 1.05 }
  rows.push(
    costRow(`Start-up with ${of}`, many.startMs / few.startMs, target, many.cpuMs / few.cpuMs),
    costRow(`Idle memory with ${of}`, many.memoryMiB / few.memoryMiB, target),
  )
}

async function workersWhereThereAre(): Promise<Measure[]> {
  const measure = workers(await small())
  if (measure === null) print('Two processes against one: skipped, because this version has no WORKERS.\n')
  return measure === null ? [] : [measure]
}

/** A new file with merchants that can pay. */
async function onFile(): Promise<Payers> {
  const path = join(folder, 'payers.sqlite')
  return { path, merchants: await richMerchants(`sqlite:${path}`, payers) }
}

/** A separate PostgreSQL server with fsync, and merchants that can pay. */
async function onPostgres(): Promise<PostgresPayoutMerchants> {
  const postgres = await startPostgresServer([])
  endings.push(postgres.remove)
  const merchants = await richMerchants(postgres.url('postgres'), payers)
  const client = new pg.Client(postgres.url('template1'))
  await client.connect()
  for (const name of databasesOnPostgres) await client.query(`create database ${name} template postgres`)
  await client.end()
  return { url: postgres.url, merchants }
}

async function lastCursor(): Promise<string> {
  const data = await large()
  const server = await startServer(service(`sqlite:${data.path}`), folder)
  const load = { path: '/graphql', body: JSON.stringify({ query: lastPayouts }), apiKeys: [data.apiKey] }
  const { body } = await sendOnce(load, server.port, '')
  await server.end()
  return (body as { data: { payouts: { pageInfo: { startCursor: string } } } }).data.payouts.pageInfo.startCursor
}

/** The machine and versions that the figures belong to. */
function machine(): string {
  const [cpu] = cpus()
  const packages = Object.entries(yardstickVersions()).map(([name, version]) => `${name} ${version}`)
  return (
    `${cpus().length} × ${cpu?.model}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB; Node ${process.versions.node}, ` +
    `load from ${loader}. Yardsticks: ${packages.join(', ')}.`
  )
}

function print(text: string): void {
  report.push(text)
  process.stdout.write(`${text}\n`)
}
