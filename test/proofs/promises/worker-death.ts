import { randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { writeTimeoutMs } from '../../../src/database/group-commit.ts'
import { isAlive, processesOf } from '../../support/processes.ts'
import type { Change } from '../changed-source.ts'
import type { Answer, PayoutLog, Request } from '../clients.ts'
import { acknowledgedBy, connections, newPayoutLog, payoutBody, send } from '../clients.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import type { Server } from '../server.ts'
import { makeDatabase, startMain } from '../server.ts'
import { compare, faultsOfBooks } from '../stored.ts'

/** A round kills a reader, the writer and the supervisor; one in this many stops a reader and the writer instead. */
const rounds = { ci: 8, quick: 12, long: 212 }
const stopEvery = 20

/** A request may exceed its limit by the delay of a busy machine. */
const silenceMs = writeTimeoutMs + 5_000

export const proof: Proof = {
  promise:
    'when any one of several processes dies or stops, every request gets a timely response, and no payout is lost or doubled',
  control: 'letting each reader accept its own connections',
  seconds: { ci: 300, quick: 300, long: 8_000 },
  run,
}

const roundRobin: Change = {
  file: 'src/app/workers/supervisor.ts',
  from: 'cluster.schedulingPolicy = cluster.SCHED_NONE',
  to: 'cluster.schedulingPolicy = cluster.SCHED_RR',
}

/** The clients' observations over all servers. */
type Seen = {
  readonly log: PayoutLog
  readonly faults: string[]
  port: number
  /** Requests without a response so far. */
  readonly waiting: Set<Promise<unknown>>
  requests: number
  broken: number
  longestMs: number
  isOver: boolean
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const random = randomFrom(seed)
  const path = join(folder, 'payouts.sqlite')
  const { url, apiKey } = await makeDatabase(path)
  const start = () => startMain({ url, environment: { WORKERS: '2' }, changes: isControl ? [roundRobin] : [] })
  let server = await start()
  const log = newPayoutLog('worker death')
  const seen: Seen = {
    log,
    faults: [],
    waiting: new Set(),
    port: server.port,
    requests: 0,
    broken: 0,
    longestMs: 0,
    isOver: false,
  }
  // Both kinds, because the death of a process loses different state in each.
  const agents = [connections(8), new Agent({ keepAlive: false })]
  const clients = agents.flatMap((agent) => [
    ...Array.from({ length: 4 }, () => payWithKeys(seen, { apiKey, agent })),
    payWithoutKeys(seen, { apiKey, agent }),
  ])
  // Connections arrive continuously, so that one is always under way to the process that dies.
  for (let i = 0; i < 8; i++) clients.push(connectAnew(seen, { apiKey, agent: agents[1] as Agent }))

  const deaths = { reader: 0, writer: 0, supervisor: 0 }
  let stops = 0
  for (let round = 1; round <= rounds[length] && seen.faults.length === 0; round++) {
    const isStop = round % stopEvery === 0 || (round === rounds[length] && stops === 0)
    for (const role of ['reader', 'writer'] as const) {
      await paysAgain(seen)
      await delay(random() * 100)
      const pid = pick(server, role, random)
      if (pid === undefined) continue
      process.kill(pid, isStop ? 'SIGSTOP' : 'SIGKILL')
      if (isStop) stops++
      else deaths[role]++
      if (isStop && !(await isGone(pid))) seen.faults.push(`a stopped ${role} was not killed`)
    }
    await paysAgain(seen)
    // A dying supervisor closes all connections: earlier requests may end without a response.
    await Promise.all(seen.waiting)
    await server.kill()
    deaths.supervisor++
    server = await start()
    seen.port = server.port
  }
  await paysAgain(seen)
  seen.isOver = true
  await Promise.all(clients)
  for (const agent of agents) agent.destroy()
  await server.kill('SIGTERM')
  seen.faults.push(...compare(path, log).faults, ...(await faultsOfBooks(path)))

  const { requests, broken, longestMs, faults } = seen
  const killed = `${deaths.reader} readers, ${deaths.writer} writers and ${deaths.supervisor} supervisors killed, ${stops} stopped`
  const figure = `${killed}; ${requests} requests, ${broken} connections broken, the longest ${Math.round(longestMs)} ms; ${log.acknowledged.size} acknowledged`
  if (faults.length > 0) return { isHeld: false, figure: `${figure}; ${faults.slice(0, 3).join('; ')}` }
  return { isHeld: log.acknowledged.size > deaths.supervisor, figure: `${figure}, 0 lost, 0 doubled` }
}

/** A running process of this role; there is exactly one writer. */
function pick({ child }: Server, role: string, random: () => number): number | undefined {
  const those = processesOf(child.pid as number).filter((each) => each.role === role)
  return those[Math.floor(random() * those.length)]?.pid
}

async function isGone(pid: number): Promise<boolean> {
  const until = performance.now() + silenceMs
  while (isAlive(pid) && performance.now() < until) await delay(50)
  return !isAlive(pid)
}

/** Waits for an acknowledgement after now, or for a time that indicates a fault. */
async function paysAgain({ log, faults }: Seen): Promise<void> {
  const before = log.acknowledged.size
  const until = performance.now() + 4 * silenceMs
  while (log.acknowledged.size === before && faults.length === 0) {
    if (performance.now() > until) faults.push('no payout succeeded any more')
    await delay(5)
  }
}

type Client = { readonly apiKey: string; readonly agent: Agent }

/** Pays repeatedly; each payout is retried with its key until it is acknowledged. */
async function payWithKeys(seen: Seen, client: Client): Promise<void> {
  while (!seen.isOver && seen.faults.length === 0) {
    const narration = newNarration(seen.log)
    const key = randomUUID()
    let response: Answer | null = null
    while (response?.status !== 200 && seen.faults.length === 0) {
      response = await ask(seen, client, { narration, key })
      if (response === null || response.status === 503) await delay(20)
    }
    if (response?.status === 200) seen.log.acknowledged.set(narration, acknowledgedBy(response.text))
  }
}

/** Pays repeatedly without retries; an unacknowledged payout may or may not be stored. */
async function payWithoutKeys(seen: Seen, client: Client): Promise<void> {
  while (!seen.isOver && seen.faults.length === 0) {
    const narration = newNarration(seen.log)
    const response = await ask(seen, client, { narration, key: null })
    if (response?.status === 200) seen.log.acknowledged.set(narration, acknowledgedBy(response.text))
    else await delay(20)
  }
}

/** Sends a cheap request repeatedly, each over a new connection. */
async function connectAnew(seen: Seen, client: Client): Promise<void> {
  while (!seen.isOver && seen.faults.length === 0) {
    const response = await answerTo(seen, client, { method: 'GET', path: '/livez' })
    if (response === null) await delay(20)
  }
}

function newNarration({ name, sent }: PayoutLog): string {
  const narration = `${name} ${sent.size}`
  sent.add(narration)
  return narration
}

/** Requests one payout. */
function ask(seen: Seen, client: Client, { narration, key }: { narration: string; key: string | null }) {
  const headers: Record<string, string> = key === null ? {} : { 'idempotency-key': key }
  return answerTo(seen, client, { path: '/api/payouts/banks', headers, body: { ...payoutBody, narration } })
}

/** The response of a request, or `null` when its connection broke. Silence and any other response are faults. */
async function answerTo(seen: Seen, { apiKey, agent }: Client, asked: Request): Promise<Answer | null> {
  seen.requests++
  const begunAt = performance.now()
  const ends = new AbortController()
  const answering = Promise.race([
    send({ port: seen.port, apiKey }, agent, asked).catch(() => 'broken' as const),
    delay(silenceMs, 'silence' as const, { signal: ends.signal }).catch(() => 'silence' as const),
  ])
  seen.waiting.add(answering)
  const response = await answering
  seen.waiting.delete(answering)
  ends.abort()
  seen.longestMs = Math.max(seen.longestMs, performance.now() - begunAt)
  if (response === 'broken') seen.broken++
  if (response === 'silence') seen.faults.push(`a request had no response after ${silenceMs / 1000} s`)
  if (typeof response === 'string') return null
  if (![200, 503].includes(response.status)) seen.faults.push(`a response was ${response.status}: ${response.text}`)
  return response
}
