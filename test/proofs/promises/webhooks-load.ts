import { cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import { processesUnder, processorTimeOf } from '../../support/processor-time.ts'
import type { Change } from '../changed-source.ts'
import { unthrottled } from '../changes.ts'
import { connections, newPayoutLog, send, startPaying } from '../clients.ts'
import { newPostgresDatabase } from '../postgres-database.ts'
import type { Length, Outcome, Proof, Run } from '../proof.ts'
import type { Server } from '../server.ts'
import { startMain } from '../server.ts'
import type { PostReceiver } from '../start-post-receiver.ts'
import { startPostReceiver } from '../start-post-receiver.ts'
import { backlogKey, makeBacklog, switchAll } from '../webhook-backlog.ts'

/** Deliveries are events of each merchant times its endpoints; one of the merchants pays. */
const [merchants, endpoints, clients] = [10, 10, 64]
const eventsOf: Record<Length, number> = { ci: 20, quick: 100, long: 100 }
/** Deliveries without a limit finish fast: some must be left when a round ends. */
const eventsOfControl = 300

/** A round is a window with deliveries and one without. */
const rounds: Record<Length, number> = { ci: 8, quick: 8, long: 60 }
const windowMs = 1_000

/** The share of their throughput that payouts must keep. */
const leastRatio = 0.85

/** Time to drain work that has begun, and to warm up a service. */
const [settleMs, warmUpMs] = [500, 3_000]

/** A silence of this length means that no more deliveries arrive. */
const quietMs = 15_000

export const proof: Proof = {
  promise:
    'payouts keep 0.85 of their throughput while 10,000 webhooks go out to 100 endpoints, and all webhooks arrive',
  control: 'throttling deliveries while the machine is busy',
  seconds: { ci: 900, quick: 900, long: 2_400 },
  run,
  isAlone: true,
}

/** Polls more often for enabled endpoints, so that rounds may be short on a shared machine. */
const looksOften: Change = {
  file: 'src/modules/webhooks/dispatcher/dispatcher.ts',
  from: 'const pollIntervalMs = 1_000',
  to: 'const pollIntervalMs = 200',
}

/** A configuration of the service, with its number of process groups. */
type Way = { readonly name: string; readonly url: string; readonly groups: number; readonly workers: number }

async function run({ length, isControl, folder }: Run): Promise<Outcome> {
  const changes = [looksOften, ...(isControl ? [unthrottled] : [])]
  const options = { events: isControl ? eventsOfControl : eventsOf[length], rounds: rounds[length], changes }
  const postgres = await startPostgresServer(nonDurableSettings)
  const ways: Way[] = [
    { name: 'one process', url: `sqlite:${join(folder, 'one.sqlite')}`, groups: 1, workers: 1 },
    { name: 'WORKERS=2', url: `sqlite:${join(folder, 'two.sqlite')}`, groups: 1, workers: 2 },
    { name: 'two on PostgreSQL', url: await newPostgresDatabase(postgres, 'webhooks'), groups: 2, workers: 1 },
  ]
  const outcomes: Outcome[] = []
  try {
    for (const way of ways) outcomes.push(await payWhileSending(way, options))
  } finally {
    await postgres.remove()
  }
  return {
    isHeld: outcomes.every(({ isHeld }) => isHeld),
    figure: outcomes.map(({ figure }, place) => `${ways[place]?.name}: ${figure}`).join('; '),
  }
}

type RoundOptions = { readonly events: number; readonly rounds: number; readonly changes: readonly Change[] }

async function payWhileSending(
  { url, groups, workers }: Way,
  { events, rounds, changes }: RoundOptions,
): Promise<Outcome> {
  const all = merchants * endpoints * events
  const receiver = await startPostReceiver()
  const backlog = await makeBacklog(url, { port: receiver.port, merchants, endpoints, events })
  const environment = { WORKERS: String(workers), SECRETS_KEY: backlogKey.toString('base64') }
  const servers: Server[] = []
  try {
    for (let group = 0; group < groups; group++) servers.push(await startMain({ url, environment, changes }))
    const enable = (isEnabled: boolean) => switchAll(servers[0]?.port ?? 0, backlog.endpoints, isEnabled)
    const paid = await measureRounds({ servers, receiver, enable, all }, backlog.payerKey, rounds)
    const drained = await drain({ servers, receiver, enable, all })
    const bare = await postBare(receiver)
    const ratio = middleOf(paid.ratios)
    const figure =
      `of ${paid.rate.toFixed(0)} payouts/s ${ratio.toFixed(2)} stay (${paid.ratios.map((each) => each.toFixed(2)).join(' ')}) ` +
      `during ${paid.deliveries.toFixed(0)} deliveries/s; ${drained.figure}, a bare post takes ${bare.toFixed(0)}; ` +
      `${drained.deliveries} of ${all} arrived`
    return { isHeld: ratio >= leastRatio && drained.deliveries === all, figure }
  } finally {
    for (const server of servers) await server.kill()
    receiver.child.kill()
  }
}

type Work = {
  readonly servers: readonly Server[]
  readonly receiver: PostReceiver
  readonly enable: (isEnabled: boolean) => Promise<void>
  /** Number of deliveries. */
  readonly all: number
}

/**
 * Payout throughput with deliveries relative to that without, per round, in alternating order; and payouts and
 * deliveries per second.
 */
async function measureRounds({ servers, receiver, enable, all }: Work, apiKey: string, rounds: number) {
  const load = servers.map(({ port }) => {
    const log = newPayoutLog('load')
    return { log, paying: startPaying({ port, apiKey }, { clients: clients / servers.length, log }) }
  })
  const measure = async (isSending: boolean) => {
    await enable(isSending)
    await delay(settleMs)
    const count = async () => {
      const { deliveries } = await receiver.received()
      return { paid: load.reduce((sum, { log }) => sum + log.acknowledged.size, 0), deliveries, left: timeLeft() }
    }
    const before = await count()
    await delay(windowMs)
    const after = await count()
    const paid = after.paid - before.paid
    return { paid, perTime: paid / (after.left - before.left), deliveries: after.deliveries - before.deliveries, after }
  }
  const seen: { ratio: number; paid: number; deliveries: number }[] = []
  await delay(warmUpMs)
  while (seen.length < rounds) {
    const isFirst = seen.length % 2 === 0
    const windows = [await measure(isFirst), await measure(!isFirst)] as const
    const [sending, silent] = isFirst ? windows : [windows[1], windows[0]]
    // No deliveries were left at the end, so the round proves nothing.
    if (sending.after.deliveries === all) break
    seen.push({ ratio: sending.perTime / silent.perTime, paid: silent.paid, deliveries: sending.deliveries })
  }
  await Promise.all(load.map(({ paying }) => paying.stop()))
  if (seen.length === 0) throw new Error('every event was delivered before a round ended')
  const perSecond = (counts: number[]) => (middleOf(counts) * 1000) / windowMs
  return {
    ratios: seen.map(({ ratio }) => ratio),
    rate: perSecond(seen.map(({ paid }) => paid)),
    deliveries: perSecond(seen.map(({ deliveries }) => deliveries)),
  }
}

/** CPU time that was used by this proof or idle so far; the rest belongs to other processes. */
function timeLeft(): number {
  let idle = 0
  for (const { times } of cpus()) idle += times.idle
  return idle + timeUnder(process.pid)
}

function timeUnder(root: number): number {
  return processesUnder(root).reduce((sum, pid) => sum + processorTimeOf(pid), 0)
}

/** Delivers all remaining events while no client pays. */
async function drain({ servers, receiver, enable, all }: Work) {
  const cpuMs = () => servers.reduce((sum, { child }) => sum + timeUnder(child.pid as number), 0)
  await enable(true)
  const [{ deliveries: before }, cpuBefore, begunAt] = [await receiver.received(), cpuMs(), performance.now()]
  let [deliveries, changedAt] = [before, begunAt]
  while (deliveries < all && performance.now() - changedAt < quietMs) {
    await delay(50)
    const { deliveries: now } = await receiver.received()
    if (now !== deliveries) [deliveries, changedAt] = [now, performance.now()]
  }
  const count = deliveries - before
  const [rate, micros] = [(count * 1000) / (changedAt - begunAt), ((cpuMs() - cpuBefore) * 1000) / count]
  const figure = count === 0 ? 'none left' : `alone ${rate.toFixed(0)} deliveries/s, ${micros.toFixed(0)} µs each`
  return { deliveries, figure }
}

/** CPU time of a post to the same receiver with plain Node, in microseconds. */
async function postBare({ port }: PostReceiver): Promise<number> {
  const agent = connections(clients)
  const request = {
    path: '/bare',
    headers: { 'webhook-id': 'none' },
    body: JSON.stringify({ filler: 'x'.repeat(500) }),
  }
  const posts = 200
  const before = process.cpuUsage()
  const client = async () => {
    for (let count = 0; count < posts; count++) await send({ port, apiKey: '' }, agent, request)
  }
  await Promise.all(Array.from({ length: clients }, client))
  const { user, system } = process.cpuUsage(before)
  agent.destroy()
  return (user + system) / (posts * clients)
}

function middleOf(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] as number
}
