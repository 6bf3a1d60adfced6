import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Event } from '../../../src/modules/outbox/event.ts'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import type { AdverseReceivers, Kind } from '../adverse-receivers.ts'
import type { AdverseWorld, Endpoint, Merchant } from '../adverse-world.ts'
import type { Change } from '../changed-source.ts'
import { changeSource } from '../changed-source.ts'
import { newPostgresDatabase } from '../postgres-database.ts'
import type { Length, Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import type { Receipt } from '../webhook-receiver.ts'
import type { Delay } from '../well-merchants.ts'
import { startWell } from '../well-merchants.ts'

/** Simulated hours for which receivers are down, hang and reset connections, and real time for each. */
const downHours = 72
const hourTakesMs: Record<Length, number> = { ci: 250, quick: 500, long: 5_000 }
const hourMs = 3_600_000

/** Merchants per kind of receiver, and endpoints per merchant: those that hang could occupy every slot. */
const populations: readonly (readonly [Kind, number, number])[] = [
  ['well', 6, 1],
  ['down', 2, 2],
  ['hangs', 8, 6],
  ['resets', 2, 2],
  ['slow', 2, 2],
  ['fails', 2, 2],
  ['redirects', 2, 2],
  ['rebinds', 1, 1],
]

/** An event is queried, read and recorded before the next of its object; maximum polls without progress. */
const roundTrips = 3

/** Maximum delay of other merchants' events, and maximum wait. */
const [longestDelayMs, giveUpMs] = [1_000, 30_000]

export const proof: Proof = {
  promise:
    'receivers that are down for three days, hang, reset, fail, redirect to internal hosts or change DNS delay no other merchant, lose no event and reach nothing internal',
  control: 'slots that unhealthy endpoints can’t occupy',
  seconds: { ci: 400, quick: 500, long: 2_400 },
  run,
}

const anyPlace: readonly Change[] = [
  {
    file: 'src/modules/webhooks/dispatcher/fair-scheduler.ts',
    from: 'const [maxInFlight, maxUnhealthyInFlight] = [64, 32]',
    to: 'const [maxInFlight, maxUnhealthyInFlight] = [64, 64]',
  },
  {
    file: 'src/modules/webhooks/dispatcher/fair-scheduler.ts',
    from: 'const [maxInFlightPerMerchant, maxUnhealthyInFlightPerMerchant] = [8, 4]',
    to: 'const [maxInFlightPerMerchant, maxUnhealthyInFlightPerMerchant] = [8, 8]',
  },
]

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  changeSource(isControl ? anyPlace : [])
  const postgres = await startPostgresServer(nonDurableSettings)
  const outcomes: Outcome[] = []
  try {
    const urls = [`sqlite:${join(folder, 'payouts.sqlite')}`, await newPostgresDatabase(postgres, 'webhooks')]
    for (const url of urls) outcomes.push(await endure(url, { seed, hourTakesMs: hourTakesMs[length] }))
  } finally {
    await postgres.remove()
  }
  const figures = outcomes.map(({ figure }, place) => `${['SQLite', 'PostgreSQL'][place]}: ${figure}`)
  return { isHeld: outcomes.every(({ isHeld }) => isHeld), figure: figures.join('; ') }
}

async function endure(url: string, { seed, hourTakesMs }: { seed: number; hourTakesMs: number }): Promise<Outcome> {
  // Must follow the source changes.
  const { startAdverseReceivers } = await import('../adverse-receivers.ts')
  const { startAdverseWorld } = await import('../adverse-world.ts')
  const random = randomFrom(seed)
  const receivers = await startAdverseReceivers(random)
  const world = await startAdverseWorld(url, receivers, random)
  try {
    const merchants: Merchant[] = []
    for (const [kind, count, endpoints] of populations) {
      for (let each = 0; each < count; each++) merchants.push(await world.merchant(kind, endpoints))
    }
    const others = startWell(world, receivers, merchants.filter(isWell))
    await others.areSeen()
    const adverse = merchants.filter((merchant) => !isWell(merchant))
    for (let hour = 0; hour < downHours; hour++) {
      if (hour % 6 === 0) for (const merchant of adverse) await world.happen(merchant)
      await passHour(world, hourTakesMs)
    }
    await receivers.recover()
    const delays = await others.stop()
    const seen: Seen[] = []
    for (const merchant of adverse) {
      for (const endpoint of merchant.endpoints) seen.push(await sendAll(world, receivers, [merchant, endpoint]))
    }
    return judge({ delays, seen, trapped: receivers.trapped(), faults: world.faults })
  } finally {
    await world.end()
    receivers.close()
  }
}

function isWell({ kind }: Merchant): boolean {
  return kind === 'well'
}

async function passHour({ pass, look }: AdverseWorld, takesMs: number): Promise<void> {
  pass(hourMs)
  await look()
  await delay(takesMs)
}

type Whose = readonly [Merchant, Endpoint]

/** The outcome of a merchant's events. */
type Seen = {
  /** Deliveries: one per event and endpoint. */
  readonly events: number
  /**
   * Those that arrived without help, those that arrived after a replay, and those still retried because they never
   * can.
   */
  readonly arrived: number
  readonly replayed: number
  readonly tried: number
  readonly overtaken: number
  /** Failures that this kind of receiver does not cause. */
  readonly strange: readonly string[]
}

/** How the attempts of each kind may end. */
const ends: Record<Kind, RegExp> = {
  well: /^200$/,
  down: /^200$|^connect: /,
  hangs: /^200$|^timeout: /,
  resets: /^200$|^reset: /,
  slow: /^200$/,
  fails: /^200$|^500$/,
  redirects: /^307$/,
  rebinds: /^200$|^address_refused: /,
}

/** Waits for every deliverable event of an endpoint, and replays those that failed ten times. */
async function sendAll(world: AdverseWorld, receivers: AdverseReceivers, [merchant, endpoint]: Whose): Promise<Seen> {
  const { kind } = merchant
  const events = await world.eventsOf(merchant)
  const receipts = () => receivers.receipts().filter(({ path, status }) => path === endpoint.path && status === 200)
  const count = () => new Set(receipts().map(({ sequence }) => sequence)).size
  const deliveries = () => world.deliveriesOf(merchant, endpoint)
  const exhausted = async () => (await deliveries()).filter(({ status }) => status === 'exhausted')
  // A name that resolves to an internal address from the first or second time on never arrives: it is tried, or will
  // be.
  const isEndless = kind === 'redirects' || kind === 'rebinds'
  if (!isEndless) await until(world, async () => count() + (await exhausted()).length >= events.length)
  const [arrived, overtaken] = [count(), overtakenIn(receipts())]
  for (const { sequence } of isEndless ? [] : await exhausted()) {
    const event = events.find((each) => each.sequence === sequence)
    if (event !== undefined) await world.replay(merchant, endpoint, event)
  }
  if (!isEndless) await until(world, async () => count() >= events.length)
  const [rows, cursor] = [await deliveries(), await world.cursorOf(merchant, endpoint)]
  const isTried = ({ sequence }: Event) =>
    sequence > cursor || rows.some((row) => row.sequence === sequence && row.status !== 'delivered')
  const tried = isEndless ? events.filter(isTried).length : 0
  const log = rows.flatMap(({ log }) => log).map(({ status, error }) => String(status ?? error))
  const strange = log.filter((end) => !ends[kind].test(end)).map((end) => `${kind} ended with ${end}`)
  return { events: events.length, arrived, replayed: count() - arrived, tried, overtaken, strange }
}

/** Advances time until a condition holds. */
async function until(world: AdverseWorld, isSo: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + giveUpMs
  while (!(await isSo()) && performance.now() < giveUpAt) await passHour(world, 100)
}

/** Events that first arrived after a later one of their object. */
function overtakenIn(receipts: readonly Receipt[]): number {
  const latest = new Map<string, number>()
  const known = new Set<number>()
  let overtaken = 0
  for (const { objectId, sequence } of receipts) {
    if (known.has(sequence)) continue
    known.add(sequence)
    if ((latest.get(objectId) ?? 0) > sequence) overtaken++
    latest.set(objectId, Math.max(latest.get(objectId) ?? 0, sequence))
  }
  return overtaken
}

type Judged = {
  readonly delays: readonly Delay[]
  readonly seen: readonly Seen[]
  readonly trapped: number
  readonly faults: readonly unknown[]
}

function judge({ delays, seen, trapped, faults }: Judged): Outcome {
  const sum = (of: (each: Seen) => number) => seen.reduce((total, each) => total + of(each), 0)
  const [events, arrived, replayed] = [
    sum((each) => each.events),
    sum((each) => each.arrived),
    sum((each) => each.replayed),
  ]
  const [tried, overtaken] = [sum((each) => each.tried), sum((each) => each.overtaken)]
  const lostCount = events - arrived - replayed - tried
  const longest = Math.max(...delays.map(({ ms }) => ms))
  const isLate = delays.some(({ ms, stillMs }) => ms - roundTrips * stillMs > longestDelayMs)
  const wrong = [...new Set([...seen.flatMap(({ strange }) => strange), ...faults.map(String)])].slice(0, 3)
  const figure =
    `others' ${delays.length} events within ${longest.toFixed(0)} ms${longest > longestDelayMs && !isLate ? ' (the machine stalled)' : ''}; ` +
    `of ${events} to ${seen.length} adverse endpoints ${arrived} arrived, ${replayed} after a replay, ${tried} still retried, ` +
    `${lostCount} lost, ${overtaken} overtaken; ${trapped} connections reached internal addresses`
  const isWell = !isLate && delays.length > 100 && lostCount === 0 && overtaken === 0 && trapped === 0
  return { isHeld: isWell && wrong.length === 0, figure: [figure, ...wrong].join('; ') }
}
