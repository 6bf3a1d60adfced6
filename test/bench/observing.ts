/**
 * The cost of observability: CPU time of a request with metrics, and with tracing of one request in a hundred or all,
 * relative to the same service without: `npm run bench:observing`, in six minutes.
 *
 * Every server runs in a separate process on its own copy of the data. The servers get bursts of a few hundred
 * requests in rotation, each first in its turn. Compared is the CPU time of each in the same round of many bursts, so
 * that other load on the machine affects all alike. A process is up to a tenth faster or slower than an identical one
 * for as long as it runs, so all are restarted several times, and the figure of one life is the median of its rounds.
 * The service without runs twice, which shows the noise. Fails if metrics cost more than 3 % in three quarters of the
 * lives.
 *
 *   --lives <number>      starts of every server, 7 by default
 *   --rounds <number>     rounds of 16 bursts to each server in each life, 3 by default
 *   --only <part>         only loads whose title contains this
 *   --before <folder>     another checkout of the service to compare, such as one without tracing
 *   --write <title>       writes the output into RESULTS.md, as the section of this title
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import type { Agent } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '../support/free-port.ts'
import { burst, connections, cpuMicros } from './bursts.ts'
import { copyDatabase, createBenchDatabase } from './data.ts'
import { documents } from './documents.ts'
import type { Load } from './load.ts'
import { service } from './measures.ts'
import { restPayouts } from './measures-of-payouts.ts'
import { table, writeSection } from './report.ts'
import type { Server } from './servers.ts'
import { startServer } from './servers.ts'
import { quantile } from './statistics.ts'

const { values } = parseArgs({
  options: {
    lives: { type: 'string', default: '7' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    before: { type: 'string' },
    write: { type: 'string' },
  },
})
const [lives, rounds, only] = [Number(values.lives), Number(values.rounds), values.only]
const [clients, bursts, requests, warmUps] = [32, 16, 320, 2] as const

/** Maximum relative cost of metrics. */
const maxMetricsRatio = 1.03

const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
const data = await createBenchDatabase(folder, 'small', {
  customers: 1_000,
  methods: 2_000,
  wallets: 500,
  payouts: 10_000,
})

// A collector that accepts everything; its own cost is not counted.
let collected = 0
const collector = createServer((request, response) => {
  request.on('data', (chunk: Buffer) => {
    collected += chunk.length
  })
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
}).listen(0, '127.0.0.1')
await new Promise((resolve) => collector.once('listening', resolve))
const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
const ratio = (share: string) => ({
  ...{ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: share },
})
const plain = 'neither'
const [again, metrics, some, all] = ['neither, again', 'metrics', 'traces, 1 in 100', 'traces, all'] as const
const kinds: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [plain]: {},
  [again]: {},
  ...(values.before !== undefined && { before: {} }),
  [metrics]: { METRICS_PORT: String(await freePort()) },
  [some]: ratio('0.01'),
  [all]: ratio('1'),
}
const loads: Readonly<Record<string, Load>> = {
  'REST: a wallet by its id': { path: `/api/wallets/${data.walletId}`, apiKeys: [data.apiKey] },
  'GraphQL: a wallet with its addresses': {
    path: '/graphql',
    body: JSON.stringify({ query: documents.q1, variables: { id: data.walletId } }),
    apiKeys: [data.apiKey],
  },
  'REST: a payout': restPayouts([data.apiKey]),
}

const titles = Object.keys(loads).filter((title) => title.includes(only))
/** CPU time of a request in microseconds, by load and kind: one figure for each life. */
const costs = new Map(titles.map((title) => [title, new Map(Object.keys(kinds).map((kind) => [kind, [] as number[]]))]))
const report: string[] = []
for (let life = 0; life < lives; life++) await live(life)
collector.closeAllConnections()
collector.close()
for (const [title, all] of costs) printCosts(title, all)
print(`The collector got ${(collected / 2 ** 20).toFixed(0)} MiB.`)
if (values.write !== undefined) writeSection(join(import.meta.dirname, 'RESULTS.md'), values.write, report)

type Running = { readonly kind: string; readonly server: Server; readonly agent: Agent }

/** Starts every server, each time another one first, measures all of them and stops them. */
async function live(life: number): Promise<void> {
  const running: Running[] = []
  try {
    for (const [kind, environment] of beginningAt(life, Object.entries(kinds))) {
      running.push(await begun(kind, environment, join(folder, `life-${life}-${running.length}`)))
    }
    for (const title of titles) {
      for (const [kind, cost] of await measured(running, loads[title] as Load)) costs.get(title)?.get(kind)?.push(cost)
    }
  } finally {
    for (const { agent } of running) agent.destroy()
    await Promise.all(running.map(({ server }) => server.end()))
  }
}

async function begun(kind: string, environment: Readonly<Record<string, string>>, own: string): Promise<Running> {
  mkdirSync(own)
  const spec = service(`sqlite:${copyDatabase(data, own, 'data')}`, { name: kind })
  const words = kind === 'before' ? spec.words.map((word) => word.replace(root(), values.before ?? '')) : spec.words
  const server = await startServer({ ...spec, words, environment: { ...spec.environment, ...environment } }, own)
  return { kind, server, agent: connections(clients) }
}

/** CPU time of a request of each server in this life. */
async function measured(running: readonly Running[], load: Load): Promise<(readonly [string, number])[]> {
  const taken = running.map(() => [] as number[])
  for (let round = -warmUps; round < rounds; round++) {
    const before = running.map(microsOf)
    for (let turn = 0; turn < bursts; turn++) await sendToEach(running, load, turn)
    if (round < 0) continue
    for (const [place, each] of running.entries()) {
      taken[place]?.push((microsOf(each) - (before[place] as number)) / (bursts * requests))
    }
  }
  return running.map(({ kind }, place) => [kind, quantile(taken[place] as number[], 0.5)])
}

function printCosts(title: string, all: ReadonlyMap<string, readonly number[]>): void {
  const without = all.get(plain) as readonly number[]
  const rows = [...all].map(([kind, own]) => {
    const ratios = own.map((cost, life) => cost / (without[life] as number))
    if (kind === metrics && quantile(ratios, 0.25) > maxMetricsRatio) process.exitCode = 1
    const columns = [0.5, 0.25, 0.75].map((share) => percent(quantile(ratios, share)))
    return [
      kind,
      quantile(own, 0.5).toFixed(1),
      ...(kind === plain ? ['', ''] : [columns[0] ?? '', `${columns[1]} to ${columns[2]}`]),
    ]
  })
  print(`### ${title}\n`)
  print(table([`of ${lives} lives`, 'CPU µs a request', 'more than neither', 'half of the lives'], rows))
}

/** Sends a burst to each server, another one first each time. */
async function sendToEach(running: readonly Running[], load: Load, turn: number): Promise<void> {
  for (const { server, agent } of beginningAt(turn, running)) {
    await burst(load, { port: server.port, agent, count: requests })
  }
}

/** Rotates the order, so that another one is first each time. */
function beginningAt<Item>(turn: number, all: readonly Item[]): Item[] {
  const first = turn % all.length
  return [...all.slice(first), ...all.slice(0, first)]
}

/** CPU time of a server so far, in microseconds; work after a response counts for the next burst of the same server. */
function microsOf({ server }: Running): number {
  return cpuMicros(server.child.pid as number)
}

function percent(ratio: number): string {
  const change = (ratio - 1) * 100
  return `${change < 0 ? '−' : '+'}${Math.abs(change).toFixed(1)} %`
}

function root(): string {
  return join(import.meta.dirname, '../..')
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
  report.push(text)
}
