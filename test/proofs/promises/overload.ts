import { join } from 'node:path'
import type { Change } from '../changed-source.ts'
import { payoutBody } from '../clients.ts'
import type { FloodReport, FloodTarget } from '../flood.ts'
import { floodClosed, floodOpen } from '../flood.ts'
import { memoryOf } from '../process-memory.ts'
import type { Length, Outcome, Proof, Run } from '../proof.ts'
import type { Server } from '../server.ts'
import { makeDatabase, startMain } from '../server.ts'

export const proof: Proof = {
  promise:
    'under three times its capacity, the service completes what it accepts, rejects the rest with 503 or 429, and recovers',
  control: 'the limits of queued payouts and of the read rate',
  seconds: { ci: 90, quick: 90, long: 600 },
  run,
  isAlone: true,
}

type Size = {
  readonly floodMs: number
  readonly measureMs: number
  readonly connections: number
  readonly maxQueuedWrites: number
}

/** Ten times as many connections as the queue holds; short runs divide both by ten. */
const sizes: Record<Length, Size> = {
  ci: { floodMs: 2_000, measureMs: 500, connections: 2_000, maxQueuedWrites: 200 },
  quick: { floodMs: 2_000, measureMs: 500, connections: 2_000, maxQueuedWrites: 200 },
  long: { floodMs: 60_000, measureMs: 5_000, connections: 15_000, maxQueuedWrites: 1_500 },
}

async function run({ length, isControl, folder }: Run): Promise<Outcome> {
  const size = sizes[length]
  const { url, apiKey } = await makeDatabase(join(folder, 'payouts.sqlite'))
  const queue: Change = {
    file: 'src/database/group-commit.ts',
    from: 'export const maxQueuedWrites = 10_000',
    to: `export const maxQueuedWrites = ${isControl ? 'Infinity' : size.maxQueuedWrites}`,
  }
  const unlimited = await startMain({ url, changes: [queue] })
  const payouts = await overload(unlimited, { ...size, request: payoutRequest(apiKey), capacity: null })
  const capacity = await capacityFor({ port: unlimited.port, request: readRequest(apiKey) }, size.measureMs)
  await unlimited.kill('SIGTERM')

  // Reads have no queue, so each merchant's rate limit bounds their load.
  const limit = isControl ? 'off' : String(Math.max(1, Math.floor(capacity / 4)))
  const limited = await startMain({ url, environment: { RATE_LIMIT: limit } })
  const reads = await overload(limited, { ...size, request: readRequest(apiKey), capacity })
  await limited.kill('SIGTERM')

  const seen = [describe('payouts', payouts), describe('reads', reads)]
  // Payouts wait for earlier ones, up to the length of the queue; rejecting the rest takes up to half of the time.
  const maxWaitMs = (20_000 * size.maxQueuedWrites) / payouts.capacity
  const faults = [...faultsOf('payouts', payouts, size), ...faultsOf('reads', reads, size)]
  if (payouts.waitMs > maxWaitMs) faults.push(`payouts wait longer than ${maxWaitMs.toFixed(0)} ms`)
  return { isHeld: faults.length === 0, figure: [...seen, ...faults].join('; ') }
}

type OverloadTest = Size & {
  readonly request: string /** Responses per second, if known. */
  readonly capacity: number | null
}

type Seen = {
  readonly capacity: number
  readonly flood: FloodReport
  /** Median wait of the accepted requests. */
  readonly waitMs: number
  /** Megabytes: with all connections open and idle, and the maximum during overload. */
  readonly memory: { readonly before: number; readonly most: number }
  /** One client's response time, before and after. */
  readonly alone: { readonly beforeMs: number; readonly afterMs: number; readonly isAnswered: boolean }
}

/** Sends three times the load that a server can handle. */
async function overload({ child, port }: Server, asked: OverloadTest): Promise<Seen> {
  const target = { port, request: asked.request }
  const measured = asked.capacity ?? (await capacityFor(target, asked.measureMs))
  const before = await floodClosed(target, { clients: 1, forMs: 200 })
  let memory = { before: 0, most: 0 }
  const onTick = () => {
    const memoryNow = memoryOf(child.pid as number)
    memory =
      memory.before === 0
        ? { before: memoryNow, most: memoryNow }
        : { ...memory, most: Math.max(memory.most, memoryNow) }
  }
  const flood = await floodOpen(target, {
    perSecond: 3 * measured,
    forMs: asked.floodMs,
    most: asked.connections,
    onTick,
  })
  // A limit per second lets no request pass in the following second.
  const after = await floodClosed(target, { clients: 1, forMs: 1_000 })
  const isAnswered = after.lostCount === 0 && after.waitsMs.length > 0
  return {
    capacity: measured,
    flood,
    waitMs: middleOf(flood.waitsMs),
    memory,
    alone: { beforeMs: middleOf(before.waitsMs), afterMs: middleOf(after.waitsMs), isAnswered },
  }
}

/**
 * Responses per second with enough clients that payouts share commits; each client sends as fast as it gets
 * responses.
 */
async function capacityFor(target: FloodTarget, forMs: number): Promise<number> {
  let most = 0
  // A freshly started server gets faster for a while: three times its initial capacity would be no overload.
  for (let round = 0; round < 6; round++) {
    const { waitsMs } = await floodClosed(target, { clients: 128, forMs })
    const seen = (waitsMs.length * 1_000) / forMs
    if (round > 1 && seen < 1.1 * most) return Math.max(seen, most)
    most = Math.max(seen, most)
  }
  return most
}

function faultsOf(name: string, { flood, memory, alone }: Seen, { connections }: Size): string[] {
  const { sent, statuses, withoutRetryAfter, lostCount: lost } = flood
  const refused = refusedIn(flood)
  const others = [...statuses.keys()].filter((status) => ![200, 201, 429, 503].includes(status))
  // SQLite caches 64 MiB of pages per connection for two connections, and Node needs some 30 kB per pending request.
  const maxMemory = memory.before + 150 + 0.03 * connections
  return [
    ...(lost > 0 ? [`${lost} ${name} without a response`] : []),
    ...(others.length > 0 ? [`${name} got ${others}`] : []),
    ...(withoutRetryAfter > 0 ? [`${withoutRetryAfter} ${name} rejected without Retry-After`] : []),
    ...(refused < sent / 10 ? [`hardly any ${name} were rejected`] : []),
    ...(memory.most > maxMemory ? [`memory grew to ${memory.most.toFixed(0)} MB under ${name}`] : []),
    ...(alone.isAnswered && alone.afterMs < 10 * alone.beforeMs ? [] : [`the server has not recovered after ${name}`]),
  ]
}

function refusedIn({ statuses }: FloodReport): number {
  return (statuses.get(429) ?? 0) + (statuses.get(503) ?? 0)
}

function describe(name: string, { capacity, flood, waitMs, memory, alone }: Seen): string {
  const done = flood.sent - refusedIn(flood) - flood.lostCount
  return (
    `${name}: of ${flood.sent.toLocaleString('en')} at 3 × ${capacity.toFixed(0)}/s ${done.toLocaleString('en')} done ` +
    `(median ${waitMs.toFixed(0)} ms), ${refusedIn(flood).toLocaleString('en')} rejected, memory ` +
    `${memory.before.toFixed(0)} to ${memory.most.toFixed(0)} MB, one client ${alone.beforeMs.toFixed(1)} ms before and ` +
    `${alone.afterMs.toFixed(1)} ms after`
  )
}

function middleOf(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY
}

function readRequest(apiKey: string): string {
  return `GET /api/asset-codes HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n\r\n`
}

function payoutRequest(apiKey: string): string {
  const body = JSON.stringify(payoutBody)
  const headers = [`x-api-key: ${apiKey}`, 'content-type: application/json', `content-length: ${body.length}`]
  return ['POST /api/payouts/banks HTTP/1.1', 'host: x', ...headers, '', body].join('\r\n')
}
