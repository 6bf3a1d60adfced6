import { setTimeout as delay } from 'node:timers/promises'
import { connections } from '../clients.ts'
import type { Client, Witness } from '../failover-clients.ts'
import { newWitness, payUntilOver, readUntilOver } from '../failover-clients.ts'
import type { Cluster } from '../patroni-cluster.ts'
import { missingPrograms, startCluster } from '../patroni-cluster.ts'
import type { Loss } from '../patroni-node.ts'
import { losses, openFolder } from '../patroni-node.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import type { Server } from '../server.ts'
import { fillDatabase, startMain } from '../server.ts'
import { contradictionsIn } from '../stored.ts'

const clients = 64
const merchants = 4
const services = 2
const kills = { ci: 2, quick: 4, long: 20 }
/** Failures per control: a few suffice, if they lose the whole machine. */
const killsOfControl = 3

/** The maximum time without a successful payout. */
const outageMs = 120_000

export const proof: Proof = {
  promise:
    'no acknowledged payout is lost or doubled when the primary of a replicated PostgreSQL fails and a standby takes over',
  control: 'synchronous replication',
  seconds: { ci: 600, quick: 900, long: 4_000 },
  isAlone: true,
  missing: missingPrograms,
  run,
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const random = randomFrom(seed)
  openFolder(folder)
  const cluster = await startCluster(
    folder,
    isControl
      ? [
          ['synchronous_mode: true', 'synchronous_mode: false'],
          ['synchronous_mode_strict: true', 'synchronous_mode_strict: false'],
        ]
      : [],
  )
  try {
    const apiKeys: string[] = []
    for (let merchant = 0; merchant < merchants; merchant++) apiKeys.push((await fillDatabase(cluster.url)).apiKey)
    const servers = await Promise.all(Array.from({ length: services }, () => startMain({ url: cluster.url })))
    const witness = newWitness(servers.map(({ port }) => port))
    for (const server of servers) noteEnd(witness, server)
    const agent = connections(clients + merchants)
    const feeds = apiKeys.map(() => new Map<number, string>())
    const clientOf = (place: number): Client => ({ apiKey: apiKeys[place % merchants] as string, agent, random })
    const work = [
      ...Array.from({ length: clients }, (_, place) => payUntilOver(witness, clientOf(place), `client ${place}`)),
      ...feeds.map((told, place) => readUntilOver(witness, clientOf(place), told)),
    ]
    const outages: Outage[] = []
    const count = isControl ? killsOfControl : kills[length]
    for (let kill = 0; kill < count && witness.faults.size === 0; kill++) {
      const loss = isControl ? 'machine' : (losses[kill % losses.length] as Loss)
      outages.push(await losePrimary(cluster, witness, { loss, random }))
      progress(outages, witness)
    }
    await cluster.settled()
    await delay(2_000)
    witness.isOver = true
    await Promise.all(work)
    agent.destroy()
    // A server that is killed repeatedly never runs autoanalyze, and audits are slow without statistics.
    await cluster.ask('analyze', 'payouts')
    const faults = [
      ...(await faultsOf(cluster, witness, feeds)),
      ...witness.faults,
      ...(await contradictionsIn(cluster.url)),
    ]
    await Promise.all(servers.map(({ kill }) => kill('SIGKILL')))
    return outcomeOf(witness, { outages, count, faults, events: feeds.reduce((sum, { size }) => sum + size, 0) })
  } finally {
    cluster.end()
  }
}

/** Time without payouts, from the last success before a failure to the first one after, by kind of failure. */
type Outage = { readonly loss: Loss; readonly ms: number }

/**
 * Fails the primary while all clients pay, waits for a payout that was requested after that, and recovers the
 * primary.
 */
async function losePrimary(
  cluster: Cluster,
  witness: Witness,
  { loss, random }: { loss: Loss; random: () => number },
): Promise<Outage> {
  const primary = await cluster.settled()
  await paidSince(witness, performance.now())
  await delay(500 + random() * 1_500)
  // Standbys receive nothing for a moment, as on a congested network: a primary that acknowledges anyway may lose
  // payouts.
  const goOn = primary.stopSenders()
  await delay(100 + random() * 300)
  witness.longestGapMs = 0
  primary.lose(loss)
  const lostAt = performance.now()
  if (loss === 'server' || loss === 'patroni') goOn()
  // Without Patroni the server stays primary until another takes over, and does not know that afterwards.
  if (loss === 'patroni') await cluster.replaced(primary)
  await paidSince(witness, loss === 'patroni' ? performance.now() : lostAt)
  const ms = witness.longestGapMs
  // A frozen machine resumes and still believes that it is the primary.
  await delay(1_000 + random() * 2_000)
  primary.heal(loss)
  return { loss, ms }
}

/** Waits for the acknowledgement of a request that was sent after a given time. */
async function paidSince(witness: Witness, moment: number): Promise<void> {
  const until = performance.now() + outageMs
  while (witness.latestAskedAt <= moment && witness.faults.size === 0) {
    if (performance.now() > until) witness.faults.add(`no payout succeeded for ${outageMs / 1_000} s`)
    await delay(5)
  }
}

function noteEnd(witness: Witness, { ended }: Server): void {
  ended.then(({ errors, log }) => {
    if (!witness.isOver) witness.faults.add(`a service exited: ${errors.slice(-500)} ${log.slice(-500)}`)
  })
}

type StoredPayout = { readonly key: string; readonly id: string }
type StoredEvent = { readonly merchant: string; readonly sequence: number; readonly what: string }

/**
 * Compares stored rows with responses: each acknowledged payout once, no unrequested one, and each event as it was
 * read.
 */
async function faultsOf(
  { ask }: Cluster,
  { acknowledged, sent }: Witness,
  feeds: readonly ReadonlyMap<number, string>[],
): Promise<string[]> {
  const payouts = await ask<StoredPayout>('select idempotency_key as key, id from payouts', 'payouts')
  const events = await ask<StoredEvent>(
    `select merchant_id as merchant, sequence::int as sequence, type || ' ' || object_id as what from events order by 1, 2`,
    'payouts',
  )
  const faults: string[] = []
  const stored = new Map(payouts.map(({ key, id }) => [key, id]))
  const missing = [...acknowledged].filter(([key, id]) => stored.get(key) !== id)
  if (missing.length > 0) faults.push(`${missing.length} acknowledged payouts lost, such as ${missing[0]}`)
  if (stored.size !== payouts.length) faults.push(`${payouts.length - stored.size} payouts doubled`)
  const unasked = payouts.filter(({ key }) => !sent.has(key))
  if (unasked.length > 0) faults.push(`${unasked.length} stored payouts were never requested`)
  const byMerchant = Map.groupBy(events, ({ merchant }) => merchant)
  const gaps = [...byMerchant.values()].filter((each) => each.some(({ sequence }, place) => sequence !== place + 1))
  if (gaps.length > 0) faults.push(`the event numbers of ${gaps.length} merchants have gaps`)
  const storedEvents = new Set(events.map(({ sequence, what }) => `${sequence} ${what}`))
  const untrue = feeds.flatMap((told) =>
    [...told].filter(([sequence, what]) => !storedEvents.has(`${sequence} ${what}`)),
  )
  if (untrue.length > 0) faults.push(`${untrue.length} events that clients read are not stored, such as ${untrue[0]}`)
  return faults
}

function progress(outages: readonly Outage[], { acknowledged, retries }: Witness): void {
  const { loss, ms } = outages.at(-1) as Outage
  process.stderr.write(
    `${outages.length} ${loss}: ${seconds(ms)} s; ${acknowledged.size} acknowledged, ${retries} retries\n`,
  )
}

type Ending = {
  readonly outages: readonly Outage[]
  readonly count: number
  readonly faults: readonly string[]
  readonly events: number
}

function outcomeOf({ acknowledged, retries, longestMs }: Witness, { outages, count, faults, events }: Ending): Outcome {
  const times = losses
    .map((loss) => ({ loss, all: outages.filter((each) => each.loss === loss).map(({ ms }) => ms) }))
    .filter(({ all }) => all.length > 0)
    .map(({ loss, all }) => `${loss} ${all.map(seconds).join(' ')}`)
  const done = `${outages.length} primaries failed, ${clients} clients of ${services} services, ${acknowledged.size} acknowledged, ${events} events read, ${retries} retries, slowest response ${seconds(longestMs)} s; seconds without a payout after each failure: ${times.join(', ')}`
  if (faults.length > 0) return { isHeld: false, figure: `${faults.slice(0, 4).join('; ')}; ${done}` }
  return { isHeld: outages.length === count && acknowledged.size > 100 * count, figure: `0 lost, 0 doubled; ${done}` }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1)
}
