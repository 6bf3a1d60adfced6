/**
 * What it costs to be observed: processor time of a request with metrics, and with tracing of one in a hundred and of all,
 * against the same service without: `npm run bench:observing`, in six minutes.
 *
 * Every server runs in a process of its own on a copy of the data of its own, and they get bursts of a few hundred requests in
 * turn, each first in its turn. What is compared is what each took in the same round of many bursts, so that what else the
 * machine does meets all; the service without is there twice, which shows how much of a difference is noise. Fails where metrics
 * cost more than 3 % in three quarters of the rounds.
 *
 *   --rounds <number>     rounds of 16 bursts to each, 15 unless it says otherwise
 *   --before <folder>     another checkout of the service, such as one from before it could be traced, as one more to compare
 *   --write <title>       writes what is shown into RESULTS.md, as the section of this title
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import type { Agent } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '../support/free-port.ts'
import { burst, connections, processorMicros } from './bursts.ts'
import { copyOf, filled } from './data.ts'
import { documents } from './documents.ts'
import type { Load } from './load.ts'
import { service } from './measures.ts'
import { restPayouts } from './measures-of-payouts.ts'
import { table, writeSection } from './report.ts'
import type { Server } from './servers.ts'
import { startServer } from './servers.ts'
import { quantile } from './statistics.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, before: { type: 'string' }, write: { type: 'string' } },
})
const rounds = Number(values.rounds)
const [clients, bursts, requests, warmUps] = [32, 16, 320, 2]

/** The most that metrics may cost. */
const mostOfMetrics = 1.03

const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
const data = await filled(folder, 'small', { customers: 1_000, methods: 2_000, wallets: 500, payouts: 10_000 })

// A collector that takes everything; what it does is its own.
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

const report: string[] = []
const servers = new Map<string, Server>()
const agents = new Map<Server, Agent>()
for (const [place, [kind, environment]] of Object.entries(kinds).entries()) {
  const spec = service(`sqlite:${copyOf(data, folder, `kind-${place}`)}`, { name: kind })
  const words = kind === 'before' ? spec.words.map((word) => word.replace(root(), values.before ?? '')) : spec.words
  const own = join(folder, `place-${place}`)
  mkdirSync(own)
  const server = await startServer({ ...spec, words, environment: { ...spec.environment, ...environment } }, own)
  servers.set(kind, server)
  agents.set(server, connections(clients))
}
try {
  for (const [title, load] of Object.entries(loads)) await compare(title, load)
} finally {
  for (const agent of agents.values()) agent.destroy()
  await Promise.all([...servers.values()].map((server) => server.end()))
  collector.closeAllConnections()
  collector.close()
}
print(`The collector got ${(collected / 2 ** 20).toFixed(0)} MiB.`)
if (values.write !== undefined) writeSection(join(import.meta.dirname, 'RESULTS.md'), values.write, report)

async function compare(title: string, load: Load): Promise<void> {
  const costs = new Map(Object.keys(kinds).map((kind) => [kind, [] as number[]]))
  for (let round = -warmUps; round < rounds; round++) {
    const begun = taken()
    for (let turn = 0; turn < bursts; turn++) await sendToEach(load, turn)
    const ended = taken()
    if (round < 0) continue
    for (const [kind, own] of costs) own.push((Number(ended.get(kind)) - Number(begun.get(kind))) / (bursts * requests))
  }
  const without = costs.get(plain) as number[]
  const rows = [...costs].map(([kind, own]) => {
    const ratios = own.map((cost, round) => cost / (without[round] as number))
    // A process is faster or slower than its like by a few per cent for as long as it runs: so much is no finding.
    if (kind === metrics && quantile(ratios, 0.25) > mostOfMetrics) process.exitCode = 1
    const shown = [0.5, 0.25, 0.75].map((share) => percent(quantile(ratios, share)))
    return [
      kind,
      quantile(own, 0.5).toFixed(1),
      ...(kind === plain ? ['', ''] : [shown[0] ?? '', `${shown[1]} to ${shown[2]}`]),
    ]
  })
  print(`### ${title}\n`)
  print(table([`of ${rounds} rounds`, 'CPU µs a request', 'more than neither', 'half of the rounds'], rows))
}

/** A burst to each server, another one first in each turn. */
async function sendToEach(load: Load, turn: number): Promise<void> {
  const all = [...servers]
  const first = turn % all.length
  for (const [, server] of [...all.slice(first), ...all.slice(0, first)]) {
    await burst(load, { port: server.port, agent: agents.get(server) as Agent, count: requests })
  }
}

/** Processor time of each server so far, in microseconds; what is done after an answer is another burst's, of the same server. */
function taken(): Map<string, number> {
  return new Map([...servers].map(([kind, { child }]) => [kind, processorMicros(child.pid as number)]))
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
