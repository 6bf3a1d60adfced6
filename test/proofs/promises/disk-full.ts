import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../support/free-port.ts'
import { believesCommits } from '../changes.ts'
import type { PayoutLog, Target } from '../clients.ts'
import { acknowledgedBy, connections, newPayoutLog, payoutBody, send } from '../clients.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import type { Server } from '../server.ts'
import { makeDatabase, startMain } from '../server.ts'
import type { SmallDisk } from '../small-disk.ts'
import { smallDisk } from '../small-disk.ts'
import { compare, faultsOfBooks } from '../stored.ts'

const fills = { ci: 2, quick: 4, long: 60 }
const payoutsEach = 40
const refusalsEach = 20
/** Maximum time for which a rejected request is retried. */
const patienceMs = 30_000

export const proof: Proof = {
  promise:
    'on a full disk payouts fail without a trace, reads continue, a start waits, and all recovers when space is free',
  control: 'rejecting requests whose commit failed',
  seconds: { ci: 120, quick: 200, long: 1_500 },
  run,
}

/** State that all servers of the proof share. */
type Bench = {
  readonly disk: SmallDisk
  readonly path: string
  readonly start: () => Promise<Server>
  readonly port: number
  readonly apiKey: string
  readonly log: PayoutLog
  readonly faults: string[]
  readonly seen: { refused: number; serving: number; waiting: number; ended: number }
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const random = randomFrom(seed)
  const disk = smallDisk(folder)
  try {
    const path = join(disk.place, 'payouts.sqlite')
    const { url, apiKey } = await makeDatabase(path)
    const port = await freePort()
    const changes = isControl ? [believesCommits] : []
    const bench: Bench = {
      disk,
      path,
      start: () => startMain({ url, environment: { ...disk.environment, PORT: String(port) }, changes }),
      port,
      apiKey,
      log: newPayoutLog('payout'),
      faults: [],
      seen: { refused: 0, serving: 0, waiting: 0, ended: 0 },
    }
    let server = await bench.start()
    for (let fill = 0; fill < fills[length] && bench.faults.length === 0; fill++) {
      await fillAndFree(bench, Math.floor(random() * 100_000))
      if (bench.faults.length === 0) server = await startOnFull(bench, server, fill % 2 === 0 ? 'SIGKILL' : 'SIGTERM')
    }
    await server.kill()
    bench.faults.push(...(await faultsOfBooks(path)), ...compare(path, bench.log).faults)
    return outcomeOf(bench)
  } finally {
    disk.remove()
  }
}

function outcomeOf({ disk, log, faults, seen }: Bench): Outcome {
  const figure =
    `on ${disk.kind}: ${log.acknowledged.size} acknowledged, ${seen.refused} rejected and paid later; of the ` +
    `starts on the full disk ${seen.serving} served and ${seen.waiting} waited`
  if (faults.length > 0) return { isHeld: false, figure: `${figure}; ${faults.slice(0, 3).join('; ')}` }
  return { isHeld: seen.refused > 0 && seen.serving + seen.waiting > 0, figure: `${figure}; 0 lost, 0 doubled` }
}

/** Pays, fills the disk until payouts are rejected, frees it, and retries those payouts, all in one process. */
async function fillAndFree(bench: Bench, leftBytes: number): Promise<void> {
  const { disk, path, log, faults, seen } = bench
  await payAll(bench, newNarrations(bench, payoutsEach))
  disk.fill(leftBytes)
  const refused = await payUntilRefused(bench, refusalsEach)
  await expectStatus(bench, '/api/customers', 200)
  const look = compare(path, log)
  faults.push(...look.faults)
  if (look.unacknowledged > 0) faults.push(`${look.unacknowledged} rejected payouts are stored`)
  disk.free()
  await payAll(bench, refused)
  seen.refused += refused.length
}

/**
 * Stops the server and starts it while the disk is full: it serves what it can, or waits, alive and not ready. It
 * must not exit, because then it would be restarted in a loop.
 */
async function startOnFull(bench: Bench, before: Server, signal: 'SIGKILL' | 'SIGTERM'): Promise<Server> {
  const { disk, start, faults, seen } = bench
  // A killed process leaves files that the next one can use; a stopped one has removed them, and the next needs
  // space.
  await before.kill(signal)
  disk.fill()
  const starting = start()
  const state = await stateOf(bench, starting)
  if (state === 'serving') await expectStatus(bench, '/api/customers', 200)
  if (state === 'waiting') await expectStatus(bench, '/livez', 200)
  const refused = state === 'ended' ? [] : await payUntilRefused(bench, 3)
  disk.free()
  seen[state]++
  if (state === 'ended') {
    faults.push('the server exited because the disk was full')
    return start()
  }
  const server = await starting
  await payAll(bench, refused)
  return server
}

/** The outcome of a start: the first sign of it. */
async function stateOf(bench: Bench, starting: Promise<Server>): Promise<'serving' | 'waiting' | 'ended'> {
  let state: 'serving' | 'ended' | null = null
  starting.then(
    () => {
      state = 'serving'
    },
    () => {
      state = 'ended'
    },
  )
  while (state === null) {
    if ((await statusOf(bench, '/readyz')) === 503) return 'waiting'
    await delay(20)
  }
  return state
}

function newNarrations({ log }: Bench, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `payout ${log.sent.size + at}`)
}

/** Makes each payout, and retries rejected ones. */
async function payAll(bench: Bench, narrations: readonly string[]): Promise<void> {
  const lateAt = performance.now() + patienceMs
  for (const narration of narrations) {
    while ((await pay(bench, narration)) === 503) {
      if (performance.now() > lateAt)
        return void bench.faults.push(`${narration} is still rejected although space is free`)
      await delay(100)
    }
  }
}

/** Pays until a number of payouts are rejected and returns those. The remaining space may suffice for a few. */
async function payUntilRefused(bench: Bench, count: number): Promise<string[]> {
  const refused: string[] = []
  for (let tries = 0; refused.length < count; tries++) {
    const [narration] = newNarrations(bench, 1) as [string]
    if ((await pay(bench, narration)) === 503) refused.push(narration)
    if (tries < 300) continue
    bench.faults.push('payouts are accepted although no space is free')
    break
  }
  return refused
}

/** Requests a payout with a new idempotency key and returns the status. */
async function pay(bench: Bench, narration: string): Promise<number> {
  const { log, faults } = bench
  const agent = connections(1)
  const headers = { 'idempotency-key': narration }
  const body = { ...payoutBody, narration }
  log.sent.add(narration)
  const request = { path: '/api/payouts/banks', headers, body }
  const { status, text } = await send(bench, agent, request).catch((error: Error) => ({
    status: 0,
    text: error.message,
  }))
  agent.destroy()
  if (status === 200) log.acknowledged.set(narration, acknowledgedBy(text))
  else if (status !== 503) faults.push(`${narration} got ${status}: ${text}`)
  return status
}

async function expectStatus(bench: Bench, path: string, expected: number): Promise<void> {
  const status = await statusOf(bench, path)
  if (status !== expected) bench.faults.push(`${path} responded with ${status}`)
}

/** The response to a path, or `null` if nothing listens. */
async function statusOf(target: Target, path: string): Promise<number | null> {
  const agent = connections(1)
  const response = await send(target, agent, { method: 'GET', path }).catch(() => null)
  agent.destroy()
  return response?.status ?? null
}
