import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { PayoutLog, Target } from '../clients.ts'
import { acknowledgedBy, connections, newPayoutLog, payoutBody, send, startPaying } from '../clients.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import { makeDatabase, startMain } from '../server.ts'
import { compare, faultsOfBooks } from '../stored.ts'

export const proof: Proof = {
  promise:
    'SIGTERM under load: every accepted request gets its response, and the process exits within 10 s with code 0',
  control: 'draining accepted requests',
  seconds: { ci: 90, quick: 90, long: 1_200 },
  run,
}

const rounds = { ci: 2, quick: 3, long: 100 }

/** The control exits immediately, with the right code. */
const withoutDraining = {
  file: 'src/app/serve.ts',
  from: "process.on('SIGTERM', drain)",
  to: "process.on('SIGTERM', () => process.exit(0))",
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const random = randomFrom(seed)
  const seen: Seen[] = []
  const count = isControl ? 1 : rounds[length]
  for (let round = 0; round < count; round++) {
    const place = join(folder, `${round}.sqlite`)
    // Every other run has two processes that respond and a third that writes.
    seen.push(await endUnderLoad(place, { workers: 1 + (round % 2), afterMs: 300 + random() * 700, isControl }))
  }
  const faults = seen.flatMap((each) => each.faults)
  const maxMs = Math.max(...seen.map(({ endMs }) => endMs))
  const sum = (of: (each: Seen) => number) => seen.reduce((total, each) => total + of(each), 0)
  const figure =
    `${count} stops, ${sum(({ paid }) => paid)} payouts and ${sum(({ read }) => read)} reads completed, ` +
    `${sum(({ late }) => late)} of them after the signal; the longest stop took ${(maxMs / 1000).toFixed(1)} s` +
    `${faults.length > 0 ? `; ${faults.length} faults: ${faults.slice(0, 3).join('; ')}` : ''}`
  return { isHeld: faults.length === 0, figure }
}

type Seen = {
  readonly faults: readonly string[]
  readonly paid: number
  readonly read: number
  readonly late: number
  readonly endMs: number
}

type Ending = { readonly workers: number; readonly afterMs: number; readonly isControl: boolean }

/** Stops a server under full load, and checks its behavior. */
async function endUnderLoad(path: string, { workers, afterMs, isControl }: Ending): Promise<Seen> {
  const { url, apiKey } = await makeDatabase(path)
  const changes = isControl ? [withoutDraining] : []
  const server = await startMain({ url, environment: { WORKERS: String(workers) }, changes })
  const target = { port: server.port, apiKey }
  const log = newPayoutLog('sigterm')
  const paying = startPaying(target, { clients: 16, log })
  const reading = startReading(target)
  await wait(afterMs)
  const halves = await Promise.all(Array.from({ length: 8 }, (_, i) => payHalf(target, log, `half ${i}`)))
  const before = log.acknowledged.size + reading.answered()
  const signalledAt = performance.now()
  const ended = server.kill('SIGTERM')
  await wait(200)
  const paidLate = await Promise.all(halves.map((rest) => rest()))
  const { code, signal } = await ended
  const endMs = performance.now() - signalledAt
  await Promise.all([paying.over, reading.over])

  const { faults, unacknowledged } = compare(path, log)
  const unpaid = paidLate.filter((isPaid) => !isPaid).length
  const violations = [
    ...faults,
    ...(await faultsOfBooks(path)),
    ...(unpaid > 0 ? [`${unpaid} requests that had begun to arrive got no response`] : []),
    ...(unacknowledged > 0 ? [`${unacknowledged} stored payouts got no response`] : []),
    ...(code === 0 ? [] : [`the server exited with ${code ?? signal}`]),
    ...(endMs < 10_000 ? [] : [`the server exited after ${Math.round(endMs)} ms`]),
    ...(log.others.size === 0 ? [] : [`payouts got ${[...log.others.keys()]}`]),
  ]
  const [paid, read] = [log.acknowledged.size, reading.answered()]
  return { faults: violations, paid, read, late: paid + read - before, endMs }
}

/** Reads lists repeatedly until its connections close. */
function startReading(target: Target) {
  const agent = connections(4)
  let count = 0
  const client = async () => {
    for (;;) {
      const { status } = await send(target, agent, { method: 'GET', path: '/api/payout/methods' })
      if (status === 200) count++
    }
  }
  const over = Promise.allSettled(Array.from({ length: 4 }, client)).then(() => agent.destroy())
  return { answered: () => count, over }
}

/** Sends half of a payout's body; the returned function sends the rest and returns whether the response was right. */
async function payHalf({ port, apiKey }: Target, log: PayoutLog, narration: string): Promise<() => Promise<boolean>> {
  const body = JSON.stringify({ ...payoutBody, narration })
  const head = [
    ...['POST /api/payouts/banks HTTP/1.1', 'host: x', `x-api-key: ${apiKey}`, 'content-type: application/json'],
    ...[`content-length: ${Buffer.byteLength(body)}`, 'expect: 100-continue', 'connection: close', '', ''],
  ]
  const socket = connect(port, '127.0.0.1')
  let response = ''
  socket.on('data', (bytes) => {
    response += bytes
  })
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  log.sent.add(narration)
  socket.write(head.join('\r\n'))
  // The interim response proves that the server has accepted the request.
  await once(socket, 'data')
  socket.write(body.slice(0, 40))
  return async () => {
    socket.write(body.slice(40))
    await closed
    const [goOn, top = '', json = ''] = response.split('\r\n\r\n')
    if (goOn !== 'HTTP/1.1 100 Continue' || !top.startsWith('HTTP/1.1 200 ')) return false
    log.acknowledged.set(narration, acknowledgedBy(json))
    return true
  }
}
