import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import type { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import type { Change } from '../changed-source.ts'
import { connections, payoutBody, send } from '../clients.ts'
import { newPostgresDatabase } from '../postgres-database.ts'
import { memoryOf } from '../process-memory.ts'
import type { Length, Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import type { Server } from '../server.ts'
import { fillDatabase, startMain } from '../server.ts'
import { contradictionsIn } from '../stored.ts'

/** `COPY_PAYOUTS` and `COPY_KILLS` replace these; `COPY_KILLS=0,20` kills only the copy back. */
const payoutsBefore: Readonly<Record<Length, number>> = { ci: 500, quick: 2_000, long: 20_000 }
const kills: Readonly<Record<Length, number>> = { ci: 3, quick: 5, long: 20 }

/** A million payouts take hours on a machine that is shared. */
const longSeconds = Math.max(4_000, Number(process.env.COPY_PAYOUTS ?? 0) / 100)

const payingClients = 4
const secretsKey = Buffer.alloc(32, 7).toString('base64')
const cliPath = join(import.meta.dirname, '../../../src/cli/cli.ts')

export const proof: Proof = {
  promise: 'a copy between the engines, killed on its way, loses and doubles nothing, and callers see only 503s',
  control: 'the fence of the writer epoch',
  seconds: { ci: 240, quick: 400, long: longSeconds },
  run,
}

/** Lets a service store payouts while its database is copied. */
const withoutFence: Change = {
  file: 'src/database/sqlite/writer-epoch.ts',
  from: '    if (epoch < 0) throw Object.assign(unavailable(fencedMessage), { cause: fenceReason(raw) })\n',
  to: '    if (epoch < 0) return\n',
}

/** What the clients saw. A payout is `pending` until it has a 200. */
type Callers = {
  port: number
  isOver: boolean
  readonly agent: Agent
  readonly apiKey: string
  /** The id of each acknowledged payout by its idempotency key. */
  readonly acknowledged: Map<string, string>
  readonly statuses: Map<string, number>
  latestEvent: number
  readonly faults: string[]
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const random = randomFrom(seed)
  const payouts = Number(process.env.COPY_PAYOUTS ?? payoutsBefore[length])
  const [there = 0, back = there] = String(process.env.COPY_KILLS ?? kills[length])
    .split(',')
    .map(Number)
  const postgres = await startPostgresServer(nonDurableSettings.filter((setting) => setting !== 'autovacuum=off'))
  try {
    const file = `sqlite:${join(folder, 'payouts.sqlite')}`
    const { apiKey } = await fillDatabase(file)
    await runCli(file, 'fill', '--payouts', String(payouts))
    const places = [file, await newPostgresDatabase(postgres, 'payouts'), `sqlite:${join(folder, 'back.sqlite')}`]
    const environment = { SECRETS_KEY: secretsKey }
    let server = await startMain({ url: file, environment, changes: isControl ? [withoutFence] : [] })
    const callers = newCallers(server.port, apiKey)
    const work = startCallers(callers)
    const figures: string[] = []
    for (const [i, source] of places.slice(0, isControl ? 1 : 2).entries()) {
      const target = places[i + 1] as string
      await delay(1_000)
      const acknowledged = callers.acknowledged.size
      if (acknowledged === 0) callers.faults.push('no payout was acknowledged before the copy')
      const copied = await copyUnderKills(source, target, {
        kills: isControl ? 0 : i === 0 ? there : back,
        random,
        payouts,
      })
      figures.push(`${i === 0 ? 'to PostgreSQL' : 'back'} ${copied.figure}`)
      if (copied.fault !== null) callers.faults.push(copied.fault)
      if (callers.faults.length > 0) break
      const next = await startMain({ url: target, environment })
      callers.port = next.port
      await waitForStop(server)
      server = next
    }
    await delay(1_000)
    callers.isOver = true
    await Promise.all(work)
    await repeatAll(callers)
    await server.kill()
    const last = places[isControl ? 1 : 2] as string
    const faults = [...callers.faults, ...(callers.faults.length > 0 ? [] : await contradictionsIn(last))]
    const statuses = [...callers.statuses].map(([status, times]) => `${times} × ${status}`).join(', ')
    const figure = `${payouts} payouts; ${figures.join('; ')}; ${callers.acknowledged.size} acknowledged (${statuses})`
    return { isHeld: faults.length === 0, figure: [figure, ...faults.slice(0, 3)].join('; ') }
  } finally {
    await postgres.remove()
  }
}

/** Stops a service that its database has left behind. */
async function waitForStop(server: Server): Promise<void> {
  await delay(200)
  await server.kill('SIGTERM')
}

function newCallers(port: number, apiKey: string): Callers {
  return {
    ...{ port, isOver: false, agent: connections(payingClients + 1), apiKey, latestEvent: 0 },
    ...{ acknowledged: new Map(), statuses: new Map(), faults: [] },
  }
}

function startCallers(callers: Callers): Promise<void>[] {
  const paying = Array.from({ length: payingClients }, async (_, client) => {
    for (let i = 0; !callers.isOver; i++) {
      const key = `client ${client} payout ${i}`
      const id = await pay(callers, key)
      if (id !== null) callers.acknowledged.set(key, id)
      await delay(20)
    }
  })
  return [...paying, readFeed(callers)]
}

/** Pays with a key until the payout is stored; returns its id, or `null` if the time is over. */
async function pay(callers: Callers, key: string): Promise<string | null> {
  for (;;) {
    const response = await ask(callers, 'POST', '/api/payouts/banks', key)
    if (response?.status === 200) return (JSON.parse(response.text) as { data: { id: string } }).data.id
    if (callers.isOver) return null
    await delay(100)
  }
}

/** Follows the event feed by its sequence, which must have no gap and no repetition across the moves. */
async function readFeed(callers: Callers): Promise<void> {
  while (!callers.isOver) {
    const response = await ask(callers, 'GET', `/api/events?after=${callers.latestEvent}&limit=100`)
    if (response?.status === 200) {
      for (const { sequence } of (JSON.parse(response.text) as { data: { sequence: number }[] }).data) {
        if (sequence !== callers.latestEvent + 1) callers.faults.push(`event ${sequence} after ${callers.latestEvent}`)
        callers.latestEvent = sequence
      }
    }
    await delay(100)
  }
}

/** Sends a request and counts its status. Anything but 200 and 503 is a fault. */
async function ask(callers: Callers, method: string, path: string, key?: string) {
  const { port, agent, apiKey, statuses, faults } = callers
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  const body = key === undefined ? {} : { body: payoutBody }
  try {
    const response = await send({ port, apiKey }, agent, { method, path, headers, ...body })
    const status = String(response.status)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status !== '200' && status !== '503') faults.push(`${method} ${path}: ${status} ${response.text.slice(0, 200)}`)
    return response
  } catch (error) {
    faults.push(`${method} ${path}: ${(error as Error).message}`)
    return null
  }
}

/** Repeats every acknowledged payout, which must return the same payout. */
async function repeatAll(callers: Callers): Promise<void> {
  for (const [key, id] of callers.acknowledged) {
    if (callers.faults.length > 3) return
    const response = await ask(callers, 'POST', '/api/payouts/banks', key)
    const again =
      response?.status === 200 ? (JSON.parse(response.text) as { data: { id: string } }).data.id : response?.status
    if (again !== id) callers.faults.push(`${key} was ${id}, and is ${again}`)
  }
}

type CopyRun = { readonly kills: number; readonly random: () => number; readonly payouts: number }

/** Runs `copy` until it ends by itself, after some runs that are killed at random points. */
async function copyUnderKills(source: string, target: string, { kills, random, payouts }: CopyRun) {
  const startedAt = performance.now()
  const maxRunMs = 1_500 + payouts / 5
  let killed = 0
  let highest = 0
  for (;;) {
    const child = startCli(source, 'copy', target, '--json')
    const memory = setInterval(() => {
      highest = Math.max(highest, memoryIfRunning(child))
    }, 100)
    const ended = outputOf(child)
    const timer = killed < kills ? setTimeout(() => child.kill('SIGKILL'), 300 + random() * maxRunMs) : undefined
    const { code, stdout } = await ended
    clearTimeout(timer)
    clearInterval(memory)
    if (code === null) {
      killed++
      continue
    }
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
    const { rows = 0, error } = JSON.parse(stdout) as { rows?: number; error?: { message: string } }
    const figure = `${rows} rows after ${killed} kills in ${seconds} s, ${Math.round(highest)} MB`
    return { figure, fault: code === 0 ? null : `copy failed: ${error?.message}` }
  }
}

function memoryIfRunning({ pid, exitCode }: ChildProcess): number {
  try {
    return pid === undefined || exitCode !== null ? 0 : memoryOf(pid) || 0
  } catch {
    return 0
  }
}

function startCli(url: string, ...words: string[]): ChildProcess {
  const environment = { ...process.env, DATABASE_URL: url, SECRETS_KEY: secretsKey }
  return spawn(process.execPath, [cliPath, ...words], { env: environment, stdio: ['ignore', 'pipe', 'ignore'] })
}

async function runCli(url: string, ...words: string[]): Promise<void> {
  const { code } = await outputOf(startCli(url, ...words))
  if (code !== 0) throw new Error(`${words.join(' ')} exited with ${code}`)
}

function outputOf(child: ChildProcess): Promise<{ code: number | null; stdout: string }> {
  let stdout = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout })))
}
