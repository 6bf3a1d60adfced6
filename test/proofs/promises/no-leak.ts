import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Request, Target } from '../clients.ts'
import { connections, payoutBody, send } from '../clients.ts'
import type { HeldResources } from '../heap-probe.ts'
import { measureHeld } from '../held-resources.ts'
import type { Length, Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import { makeDatabase, startProgram } from '../server.ts'

export const proof: Proof = {
  promise: 'a completed request leaves nothing: heap, open files and SQLite’s WAL do not grow',
  control: 'releasing requests',
  seconds: { ci: 120, quick: 120, long: 1_200 },
  run,
}

type Size = {
  readonly warmUpMs: number
  readonly loadMs: number
  readonly looks: number
  readonly maxMegabytes: number
}

/** `mostMegabytes` is the maximum heap growth in 100,000 requests. */
const sizes: Record<Length, Size> = {
  ci: { warmUpMs: 3_000, loadMs: 8_000, looks: 5, maxMegabytes: 10 },
  quick: { warmUpMs: 3_000, loadMs: 8_000, looks: 5, maxMegabytes: 10 },
  long: { warmUpMs: 60_000, loadMs: 600_000, looks: 20, maxMegabytes: 1 },
}

/** Noise in the heap of an idle process, which is large compared with what a few thousand requests may leave. */
const noiseMegabytes = 0.75

/** SQLite restarts its WAL when it has 4,000 pages of 4 kB and has no readers. */
const maxWalMegabytes = 32

const keepsRequests = {
  file: 'src/server/http/request-lifecycle.ts',
  from: "  app.addHook('onResponse', (request, reply, done) => {",
  to: "  const kept: unknown[] = []\n  app.addHook('onResponse', (request, reply, done) => {\n    kept.push(request)",
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const size = sizes[length]
  const path = join(folder, 'payouts.sqlite')
  const { url, apiKey } = await makeDatabase(path)
  const probe = join(folder, 'held.json')
  const dirname = import.meta.dirname
  const imports = ['change-main.ts', 'heap-probe.ts'].flatMap((file) => ['--import', join(dirname, '..', file)])
  const server = await startProgram(['--expose-gc', ...imports, join(dirname, '../../../src/app/main.ts')], {
    url,
    environment: { HEAP_PROBE: probe, CHANGES: JSON.stringify(isControl ? [keepsRequests] : []) },
  })
  const load = startLoad({ port: server.port, apiKey }, randomFrom(seed))

  await load.fillMemories()
  await load.goOn(size.warmUpMs)
  const looks: Look[] = []
  let logBytes = 0
  for (let i = 0; i < size.looks; i++) {
    // A real leak shows sooner.
    if (i > 0) await load.goOn(Math.min(size.loadMs / (size.looks - 1), isControl ? 1_500 : Number.POSITIVE_INFINITY))
    looks.push({ ...(await measureHeld(server, probe)), requests: load.answered() })
    logBytes = Math.max(logBytes, statSync(`${path}-wal`).size)
  }
  await server.kill('SIGTERM')

  const [first, last] = [looks[0] as Look, looks.at(-1) as Look]
  const growth = (slopeOf(looks) * 100_000) / 2 ** 20
  const maxGrowth = size.maxMegabytes + (noiseMegabytes * 100_000) / (last.requests - first.requests)
  const more = last.descriptors - first.descriptors
  const logMegabytes = logBytes / 2 ** 20
  const failed = load.unexpected()
  const figure =
    `${(last.requests - first.requests).toLocaleString('en')} requests after ${first.requests.toLocaleString('en')}: ` +
    `the heap of ${(first.heapBytes / 2 ** 20).toFixed(1)} MB grew by ${growth.toFixed(2)} MB in 100,000, open files by ` +
    `${more}, the WAL of SQLite to ${logMegabytes.toFixed(1)} MB${failed.length > 0 ? `; ${failed[0]}` : ''}`
  const isFlat = growth <= maxGrowth && more <= 0 && logMegabytes <= maxWalMegabytes
  return { isHeld: isFlat && failed.length === 0, figure }
}

type Look = HeldResources & { readonly requests: number }

/** Bytes that each request adds: the slope of a line through all samples. */
function slopeOf(looks: readonly Look[]): number {
  const middle = (of: (look: Look) => number) => looks.reduce((sum, each) => sum + of(each), 0) / looks.length
  const [requests, bytes] = [middle((each) => each.requests), middle((each) => each.heapBytes)]
  const covariance = middle((each) => (each.requests - requests) * (each.heapBytes - bytes))
  return covariance / middle((each) => (each.requests - requests) ** 2)
}

/** Everything that callers do, valid and invalid, from 16 connections that close between two samples. */
function startLoad(target: Target, random: () => number) {
  const unexpected: string[] = []
  let answered = 0
  const client = async (agent: ReturnType<typeof connections>, end: number) => {
    while (performance.now() < end) {
      const next = requests[Math.floor(random() * requests.length)] as (typeof requests)[number]
      const [asked, expected] = next(answered)
      const { status } = await send(target, agent, asked)
      answered++
      if (status !== expected) unexpected.push(`${asked.path} responded with ${status} instead of ${expected}`)
    }
  }
  const goOn = async (forMs: number) => {
    const agent = connections(16)
    const end = performance.now() + forMs
    await Promise.all(Array.from({ length: 16 }, () => client(agent, end)))
    agent.destroy()
    await wait(200)
  }
  /** Fills bounded caches first: the service keeps 1,000 documents. */
  const fillMemories = async () => {
    const agent = connections(16)
    const documents = Array.from({ length: 1_100 }, (_, i) => graphql(`{full${i}: merchant {name}}`))
    await Promise.all(documents.map((document) => send(target, agent, document)))
    agent.destroy()
  }
  return { fillMemories, goOn, answered: () => answered, unexpected: () => unexpected }
}

type Expected = readonly [Request, status: number]

const graphql = (query: string): Request => ({ path: '/graphql', body: { query } })
const payouts = '/api/payouts/banks'

/** Each sends a request unlike any other, in the parts that could be kept. */
const requests: readonly ((n: number) => Expected)[] = [
  () => [{ path: payouts, body: payoutBody }, 200],
  (n) => [{ path: payouts, body: payoutBody, headers: { 'idempotency-key': `key ${n}` } }, 200],
  (n) => [{ path: payouts, body: payoutBody, headers: { 'idempotency-key': `key ${n % 10}` } }, 200],
  (n) => [{ path: payouts, body: { ...payoutBody, amount: `-${n}` } }, 400],
  (n) => [{ path: payouts, body: `{${n}`, headers: { 'content-type': 'application/json' } }, 400],
  () => [{ method: 'GET', path: '/api/payout/methods' }, 200],
  (n) => [{ method: 'GET', path: `/api/customers/${n}` }, 404],
  (n) => [{ method: 'GET', path: '/api/customers', headers: { 'x-api-key': `wrong ${n}` } }, 401],
  (n) => [{ method: 'GET', path: `/nowhere/${n}` }, 404],
  () => [graphql('{payouts(first: 5) {totalCount nodes {id amount wallet {balance}}}}'), 200],
  // Documents that never repeat must not stay cached permanently.
  (n) => [graphql(`{a${n}: merchant {name}}`), 200],
  (n) => [graphql(`{nothing${n}}`), 200],
  () => [{ path: '/graphql', body: { query: '{merchant {id}}' }, headers: { accept: 'text/event-stream' } }, 200],
  () => [{ path: '/graphql', body: { query: '{merchant {id}}' }, headers: { accept: 'multipart/mixed' } }, 200],
  // Yoga handles these, and has caches of its own.
  (n) => [{ method: 'GET', path: `/graphql?query={a${n}:merchant{name}}` }, 200],
  (n) => [{ method: 'GET', path: `/graphql?query={nothing${n}}` }, 200],
]
