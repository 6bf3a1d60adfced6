import { dueAfter } from '../../../core/ids.ts'
import type { Context, Service } from '../../../operations/context.ts'
import { pausedRails } from '../../rail-orders/repository.ts'
import type { Rail } from '../adapters/rail.ts'
import { dueQuestions, dueSubmissions, postponedOrders, unknownOrders } from '../repository.ts'
import type { Breaker } from './circuit-breaker.ts'
import { createBreaker } from './circuit-breaker.ts'
import { hastenQuestions } from './hasten-questions.ts'
import { maxWaits } from './poll-schedule.ts'
import { runOrder } from './process-order.ts'
import { readLeftReports } from './receive-reports.ts'

/** How often it is looked for what is due, whatever else tells of it. */
const lookEveryMs = 1_000

/** How long what is under way may take when the process ends; what is not recorded by then is asked for again. */
const endMs = 3_000

/** Orders that are asked for again at once when a rail answers again. */
const mostHastened = 1_000

/** How often they were submitted at most: what a rail does not take though it answers would have it left alone again and again. */
const mostAttempts = 2

/** By how much the machine's clock may go back without being taken for one that was ahead. */
const clockToleranceMs = 1_000

/** How much longer than its schedule an order may wait: a call may be under way, and clocks of several machines differ. */
const postponedByMs = 60_000

/** How often postponed orders are looked for although this machine's clock was never ahead: another's may have been. */
const postponedEveryMs = 600_000

/** Has what is due on rails done. */
export type Rails = {
  /** Looks now for what is due. */
  readonly look: () => Promise<void>
  readonly stop: () => Promise<void>
}

type Options = {
  readonly service: Service
  readonly rails: readonly Rail[]
  /** Rails to which this process submits nothing, whatever is said in the database. */
  readonly paused: 'all' | readonly string[]
  /** A request in the name of a merchant. */
  readonly contextOf: (merchantId: string) => Promise<Context>
  readonly onFault: (error: unknown) => void
  /** Told of orders that a bank reports and nobody here knows. */
  readonly onUnknown: (rail: string, orders: readonly string[]) => void
  /** Milliseconds of a clock that goes on by itself. */
  readonly clock?: () => number
}

/** A rail with what is under way on it in this process. */
type Lane = { readonly rail: Rail; readonly underWay: Set<string>; readonly breaker: Breaker }

type Due = { readonly merchantId: string; readonly orderId: string }

/**
 * Submits what waits for a rail, in order of age, and asks banks what became of what they have not told: as many calls at once
 * as a rail takes, and next to none to one that does not answer. Several processes may do so at once: each order is one's.
 */
export function startRails({
  service,
  rails,
  paused,
  contextOf,
  onFault,
  onUnknown,
  clock = () => performance.now(),
}: Options): Rails {
  const lanes = rails.map((rail): Lane => ({ rail, underWay: new Set(), breaker: createBreaker(clock) }))
  const running = new Set<Promise<void>>()
  let isStopped = false
  let looking: Promise<void> | null = null
  let isAskedAgain = false
  /** The machine's clock less one that goes on by itself, when they were last compared. */
  let difference = Number.POSITIVE_INFINITY
  let postponedAskedAt = clock()

  /** Looks once more after what looks already, for all who ask meanwhile. */
  function look(): Promise<void> {
    if (looking) isAskedAgain = true
    looking ??= lookUntilQuiet().finally(() => {
      looking = null
    })
    return looking
  }

  async function lookUntilQuiet(): Promise<void> {
    do {
      isAskedAgain = false
      await lookNow()
    } while (isAskedAgain && !isStopped)
  }

  async function lookNow(): Promise<void> {
    if (isStopped) return
    const stored = (await pausedRails(service.db, {})).map(({ rail }) => rail)
    const isPaused = ({ name }: Rail) => paused === 'all' || paused.includes(name) || stored.includes(name)
    const mayBePostponed = hasGoneBack() || clock() - postponedAskedAt >= postponedEveryMs
    if (mayBePostponed) postponedAskedAt = clock()
    for (const lane of lanes) {
      if (mayBePostponed) await askPostponed(lane.rail)
      const unknown = await readLeftReports(service, lane.rail, onFault)
      if (unknown.length > 0) onUnknown(lane.rail.name, unknown)
      await fill(lane, isPaused(lane.rail))
    }
  }

  async function fill(lane: Lane, isPaused: boolean): Promise<void> {
    const { rail, underWay, breaker } = lane
    const room = breaker.room(rail.callsAtOnce, underWay.size)
    if (room <= 0) return
    const asked = { rail: rail.name, limit: room + underWay.size }
    const questions = await dueQuestions(service.db, { ...asked, now: dueAfter(0, service.wallClock()) })
    const submissions = isPaused ? [] : await dueSubmissions(service.db, asked)
    // What may be with the bank or not is older than what waits, and few.
    const [doubtful, others] = split(questions, ({ state }) => state === 'UNKNOWN')
    const due = [...doubtful, ...inTurns(others, submissions)].filter(({ orderId }) => !underWay.has(orderId))
    for (const each of due.slice(0, room)) begin(lane, each)
  }

  function begin(lane: Lane, { merchantId, orderId }: Due): void {
    const { rail, underWay, breaker } = lane
    underWay.add(orderId)
    const run = contextOf(merchantId)
      .then((context) => runOrder(context, rail, orderId))
      .then(async (ran) => {
        if (ran === 'unanswered' && !rail.failsAlone) breaker.fail()
        if (ran === 'answered' && breaker.succeed()) await hasten(rail)
        return true
      })
      .catch((error: unknown) => {
        onFault(error)
        return false
      })
      .then((isDone) => {
        underWay.delete(orderId)
        running.delete(run)
        // There may be more that waits for this place; what could not be done is due still, and tried again a while later.
        if (isDone && !isStopped) lookSafely()
      })
    running.add(run)
  }

  /** Whether the machine's clock has gone back since it was last looked at, or may have before this process began. */
  function hasGoneBack(): boolean {
    const before = difference
    difference = service.wallClock() - clock()
    return difference < before - clockToleranceMs
  }

  /** What a clock that was ahead has put off. */
  async function askPostponed({ name, callMs }: Rail): Promise<void> {
    for (const { minAsked, maxAsked, delayMs } of maxWaits) {
      const after = dueAfter(delayMs + callMs + postponedByMs, service.wallClock())
      const orders = await postponedOrders(service.db, { rail: name, minAsked, maxAsked, after, limit: mostHastened })
      // Those that are left are found at the next look.
      if (orders.length === mostHastened) difference = Number.POSITIVE_INFINITY
      await hastenEach(orders)
    }
  }

  /** What it could not answer while it was down is older than what waits. */
  async function hasten({ name }: Rail): Promise<void> {
    const asked = { rail: name, after: dueAfter(0, service.wallClock()), attempts: mostAttempts, limit: mostHastened }
    await hastenEach(await unknownOrders(service.db, asked))
  }

  async function hastenEach(orders: readonly Due[]): Promise<void> {
    for (const [merchantId, own] of Map.groupBy(orders, (order) => order.merchantId)) {
      const context = await contextOf(merchantId)
      await service.perform(hastenQuestions, context, { orderIds: own.map(({ orderId }) => orderId) })
    }
  }

  const lookSafely = () => void look().catch(onFault)
  const timer = setInterval(lookSafely, lookEveryMs).unref()
  // A payout that was made has told so.
  const endWatch = rails.length > 0 ? service.db.watch('events', lookSafely) : () => {}
  lookSafely()
  return {
    look,
    stop: async () => {
      isStopped = true
      clearInterval(timer)
      endWatch()
      await Promise.race([Promise.all(running), new Promise((resolve) => setTimeout(resolve, endMs).unref())])
    },
  }
}

function split<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

/** One of the first, one of the second, and so on: neither has to wait for all of the other. */
function inTurns<Item>(first: readonly Item[], second: readonly Item[]): Item[] {
  const places = Math.max(first.length, second.length)
  return Array.from({ length: places }).flatMap((_, place) =>
    [first[place], second[place]].flatMap((item) => item ?? []),
  )
}
