import { execFileSync } from 'node:child_process'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { bankMethodBody } from '../../support/bodies.ts'
import type { Change } from '../changed-source.ts'
import type { Target } from '../clients.ts'
import { connections, payoutBody, send } from '../clients.ts'
import type { Length, Outcome, Proof, Run } from '../proof.ts'
import { makeDatabase, startMain } from '../server.ts'

export const proof: Proof = {
  promise:
    'clients that send slowly, read nothing or do nothing are dropped in time, and all others are served meanwhile',
  control: 'connection timeouts',
  seconds: { ci: 90, quick: 90, long: 600 },
  run,
}

/** The limits of production, divided by a factor in short runs; the enforcing code is the same. */
const shortening: Record<Length, number> = { ci: 20, quick: 20, long: 1 }
const limitsMs = {
  headersTimeout: 30_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  connectionTimeout: 60_000,
  keepAliveTimeout: 72_000,
}

const most = { slow: 200, readers: 10, idle: 10_000 }

async function run({ length, isControl, folder }: Run): Promise<Outcome> {
  const times = shortening[length]
  const { url, apiKey } = await makeDatabase(join(folder, 'payouts.sqlite'))
  // For Node 0 means no limit; the check of all connections then finds none.
  const server = await startMain({ url, changes: limitChanges((ms) => (isControl ? 0 : Math.round(ms / times))) })
  const target = { port: server.port, apiKey }
  await makeLongList(target)
  const idle = isControl ? 500 : Math.min(most.idle, openFilesLimit() - 1_500)
  const others = serveOthers(target)

  const hostile = [
    ...(await open('slow heads', most.slow, target, sendSlowHead)),
    ...(await open('slow bodies', most.slow, target, sendSlowBody)),
    ...(await open('clients that never read', most.readers, target, readNothing)),
    ...(await open('idle', idle, target, doNothing)),
  ]
  const atOnce = hostile.filter(({ isOpen }) => isOpen()).length
  // The longest limit, which Node may exceed twofold while it writes, and as long again for a busy machine.
  const maxWaitMs = (2 * limitsMs.connectionTimeout + limitsMs.connectionsCheckingInterval) / times
  const deadline = performance.now() + (isControl ? maxWaitMs : 2 * maxWaitMs)
  const isWaitedFor = ({ name, isOpen }: Hostile) => isOpen() && name !== 'clients that never read'
  while (hostile.some(isWaitedFor) && performance.now() < deadline) await wait(50)
  // A client that never reads notices a dropped connection on its next read; one that the server never accepted,
  // because of a full backlog, notices it on a write.
  if (!isControl) await wait(Math.max(0, deadline - maxWaitMs - performance.now()))
  for (const { stir } of hostile) stir()
  await wait(1_000)
  const { served, failed } = await others.stop()
  const left = hostile.filter(({ isOpen }) => isOpen())
  for (const { drop } of hostile) drop()
  await server.kill('SIGTERM')

  const notified = hostile.filter(({ isNotified: isTold }) => isTold()).length
  const figure =
    `${hostile.length.toLocaleString('en')} connections, ${idle.toLocaleString('en')} of them idle, ` +
    `${atOnce.toLocaleString('en')} concurrently: ` +
    `${left.length} still open after their limit${left.length > 0 ? ` (${[...new Set(left.map(({ name }) => name))]})` : ''}, ` +
    `${notified} got a 408; meanwhile ${served} requests of other clients succeeded, ${failed.length} failed ${failed.slice(0, 2)}`
  return { isHeld: left.length + failed.length === 0 && served > 0 && notified >= 2 * most.slow, figure }
}

/** Number of payout methods for a page of 30 kB. */
async function makeLongList(target: Target): Promise<void> {
  const agent = connections(20)
  const request = { path: '/api/payout/methods/banks', body: bankMethodBody }
  await Promise.all(Array.from({ length: 100 }, () => send(target, agent, request)))
  agent.destroy()
}

function limitChanges(limit: (ms: number) => number): Change[] {
  return Object.entries(limitsMs)
    .filter(([name]) => name !== 'connectionsCheckingInterval')
    .map(([name, ms]) => ({ file: 'src/server/host.ts', from: `${name}: ${written(ms)}`, to: `${name}: ${limit(ms)}` }))
    .concat({
      file: 'src/server/host.ts',
      from: `connectionsCheckingInterval: ${written(limitsMs.connectionsCheckingInterval)}`,
      to: `connectionsCheckingInterval: ${limit(limitsMs.connectionsCheckingInterval) || 500}`,
    })
}

/** Formats a number as the sources write it. */
function written(ms: number): string {
  return `${ms / 1_000}_000`
}

/** Open file limit of this process, which the servers that it starts inherit. */
function openFilesLimit(): number {
  const limit = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim()
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit)
}

/** A misbehaving connection. */
type Hostile = {
  readonly name: string
  readonly isOpen: () => boolean
  /** Whether it got a response that it is too slow. */
  readonly isNotified: () => boolean
  /** Reads the pending bytes and writes meaningless ones. */
  readonly stir: () => void
  readonly drop: () => void
}

/** What a connection does to misbehave until it is closed. */
type Misbehaviour = (socket: Socket, target: Target) => void

/** Opens a number of connections with this behavior, as many concurrently as the listen backlog holds. */
async function open(name: string, count: number, target: Target, misbehave: Misbehaviour): Promise<Hostile[]> {
  const opened: Hostile[] = []
  while (opened.length < count) {
    const some = Array.from({ length: Math.min(100, count - opened.length) }, () => openOne(name, target, misbehave))
    opened.push(...(await Promise.all(some)))
  }
  return opened
}

function openOne(name: string, target: Target, misbehave: Misbehaviour): Promise<Hostile> {
  const socket = connect(target.port, '127.0.0.1')
  let isTold = false
  let isOpen = true
  const drop = () => socket.destroy()
  const stir = () => {
    socket.resume()
    socket.write('\r\n')
  }
  return new Promise((resolve) => {
    socket.on('error', () => {})
    socket.on('close', () => {
      isOpen = false
    })
    socket.once('connect', () => {
      misbehave(socket, target)
      resolve({ name, isOpen: () => isOpen, isNotified: () => isTold, stir, drop })
    })
    if (misbehave === readNothing) return
    socket.on('data', (bytes) => {
      isTold ||= bytes.toString().startsWith('HTTP/1.1 408 ')
    })
  })
}

const head = ({ apiKey }: Target) =>
  `POST /api/payouts/banks HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\ncontent-type: application/json\r\n`

/** Sends one header after another without an end. */
function sendSlowHead(socket: Socket, target: Target): void {
  socket.write(head(target))
  repeat(socket, 'x-more: x\r\n')
}

/** Announces a body and sends it space by space. */
function sendSlowBody(socket: Socket, target: Target): void {
  socket.write(`${head(target)}content-length: 100000\r\n\r\n`)
  repeat(socket, ' ')
}

function repeat(socket: Socket, bytes: string): void {
  const sending = setInterval(() => socket.write(bytes), 200)
  socket.once('close', () => clearInterval(sending))
}

/** Requests more than the system's socket buffers hold, and reads none of it. */
function readNothing(socket: Socket, { apiKey }: Target): void {
  socket.pause()
  socket.write(`GET /api/payout/methods?limit=100 HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n\r\n`.repeat(400))
}

function doNothing(): void {}

/** Pays and reads as an ordinary client, each time over a new connection and over a kept-alive one. */
function serveOthers(target: Target) {
  const agents = [connections(1), null]
  const failed: string[] = []
  let served = 0
  let isStopped = false
  const client = async (place: number) => {
    while (!isStopped) {
      const agent = agents[place] ?? connections(1)
      for (const request of [
        { path: '/api/payouts/banks', body: payoutBody },
        { method: 'GET', path: '/api/payout/methods' },
      ]) {
        const { status } = await send(target, agent, request).catch((error: Error) => ({ status: error.message }))
        if (status === 200 || status === 201) served++
        else failed.push(`${request.path}: ${status}`)
      }
      if (agents[place] === null) agent.destroy()
      await wait(20)
    }
  }
  const over = Promise.all(agents.map((_, place) => client(place)))
  const stop = async () => {
    isStopped = true
    await over
    agents[0]?.destroy()
    return { served, failed }
  }
  return { stop }
}
