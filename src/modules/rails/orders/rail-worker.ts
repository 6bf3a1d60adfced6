import { dueTimeAfter } from '../../../core/ids-and-clock.ts'
import type { Context, Service } from '../../../operations/context.ts'
import { pausedRails } from '../../rail-orders/repository.ts'
import type { Rail } from '../adapters/rail.ts'
import { duePolls, dueSubmissions, postponedRailOrders, unknownRailOrders } from '../repository.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import { hastenQuestions, maxPollWaits } from './poll-schedule.ts'
import { processOrder } from './process-order.ts'
import { processUnreadReports } from './receive-reports.ts'

/** How often it is looked for what is due, whatever else tells of it. */
const pollIntervalMs = 1_000

/** How long what is under way may take when the process ends; what is not recorded by then is asked for again. */
const shutdownTimeoutMs = 3_000

/** Orders that are asked for again at once when a rail answers again. */
const maxImmediatePolls = 1_000

/** How often they were submitted at most: what a rail does not take though it answers would have it left alone again and again. */
const maxAttemptsForImmediatePoll = 2

/** By how much the machine's clock may go back without being taken for one that was ahead. */
const clockToleranceMs = 1_000

/** How much longer than its schedule an order may wait: a call may be under way, and clocks of several machines differ. */
const postponedMarginMs = 60_000

/** How often postponed orders are looked for although this machine's clock was never ahead: another's may have been. */
const postponedCheckIntervalMs = 600_000

/** Has what is due on rails done. */
export type RailWorker = {
  /** Looks now for what is due. */
  readonly poll: () => Promise<void>
  readonly stop: () => Promise<void>
}

type RailWorkerOptions = {
  readonly service: Service
  readonly rails: readonly Rail[]
  /** Rails to which this process submits nothing, whatever is said in the database. */
  readonly paused: 'all' | readonly string[]
  /** A request in the name of a merchant. */
  readonly contextOf: (merchantId: string) => Promise<Context>
  readonly onError: (error: unknown) => void
  /** Told of orders that a bank reports and nobody here knows. */
  readonly onUnknownOrders: (rail: string, orders: readonly string[]) => void
  /** Milliseconds of a clock that goes on by itself. */
  readonly clock?: () => number
}

/** A rail with what is under way on it in this process. */
type RailRuntime = { readonly rail: Rail; readonly inFlight: Set<string>; readonly breaker: CircuitBreaker }

type DueRailOrder = { readonly merchantId: string; readonly orderId: string }

/**
 * Submits what waits for a rail, in order of age, and asks banks what became of what they have not told: as many calls at once
 * as a rail takes, and next to none to one that does not answer. Several processes may do so at once: each order is one's.
 */
export function startRailWorker({
  service,
  rails,
  paused,
  contextOf,
  onError: onFault,
  onUnknownOrders: onUnknown,
  clock = () => performance.now(),
}: RailWorkerOptions): RailWorker {
  const lanes = rails.map((rail): RailRuntime => ({ rail, inFlight: new Set(), breaker: createCircuitBreaker(clock) }))
  const running = new Set<Promise<void>>()
  let isStopped = false
  let looking: Promise<void> | null = null
  let isAskedAgain = false
  /** The machine's clock less one that goes on by itself, when they were last compared. */
  let difference = Number.POSITIVE_INFINITY
  let postponedAskedAt = clock()

  /** Looks once more after what looks already, for all who ask meanwhile. */
  function poll(): Promise<void> {
    if (looking) isAskedAgain = true
    looking ??= pollUntilIdle().finally(() => {
      looking = null
    })
    return looking
  }

  async function pollUntilIdle(): Promise<void> {
    do {
      isAskedAgain = false
      await pollOnce()
    } while (isAskedAgain && !isStopped)
  }

  async function pollOnce(): Promise<void> {
    if (isStopped) return
    const stored = (await pausedRails(service.db, {})).map(({ rail }) => rail)
    const isPaused = ({ name }: Rail) => paused === 'all' || paused.includes(name) || stored.includes(name)
    const mayBePostponed = hasClockGoneBack() || clock() - postponedAskedAt >= postponedCheckIntervalMs
    if (mayBePostponed) postponedAskedAt = clock()
    for (const lane of lanes) {
      if (mayBePostponed) await pollPostponedOrders(lane.rail)
      const unknown = await processUnreadReports(service, lane.rail, onFault)
      if (unknown.length > 0) onUnknown(lane.rail.name, unknown)
      await startDueCalls(lane, isPaused(lane.rail))
    }
  }

  async function startDueCalls(lane: RailRuntime, isPaused: boolean): Promise<void> {
    const { rail, inFlight: underWay, breaker } = lane
    const room = breaker.allowedCalls(rail.maxConcurrentCalls, underWay.size)
    if (room <= 0) return
    const asked = { rail: rail.name, limit: room + underWay.size }
    const questions = await duePolls(service.db, { ...asked, now: dueTimeAfter(0, service.wallClock()) })
    const submissions = isPaused ? [] : await dueSubmissions(service.db, asked)
    // What may be with the bank or not is older than what waits, and few.
    const [doubtful, others] = partition(questions, ({ state }) => state === 'UNKNOWN')
    const due = [...doubtful, ...interleave(others, submissions)].filter(({ orderId }) => !underWay.has(orderId))
    for (const each of due.slice(0, room)) startCall(lane, each)
  }

  function startCall(lane: RailRuntime, { merchantId, orderId }: DueRailOrder): void {
    const { rail, inFlight: underWay, breaker } = lane
    underWay.add(orderId)
    const run = contextOf(merchantId)
      .then((context) => processOrder(context, rail, orderId))
      .then(async (ran) => {
        if (ran === 'unanswered' && !rail.hasIndependentFailures) breaker.recordFailure()
        if (ran === 'answered' && breaker.recordSuccess()) await pollUnknownOrders(rail)
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
        if (isDone && !isStopped) pollSafely()
      })
    running.add(run)
  }

  /** Whether the machine's clock has gone back since it was last looked at, or may have before this process began. */
  function hasClockGoneBack(): boolean {
    const before = difference
    difference = service.wallClock() - clock()
    return difference < before - clockToleranceMs
  }

  /** What a clock that was ahead has put off. */
  async function pollPostponedOrders({ name, callMs }: Rail): Promise<void> {
    for (const { minAsked, maxAsked, delayMs } of maxPollWaits) {
      const after = dueTimeAfter(delayMs + callMs + postponedMarginMs, service.wallClock())
      const orders = await postponedRailOrders(service.db, {
        rail: name,
        minAsked,
        maxAsked,
        after,
        limit: maxImmediatePolls,
      })
      // Those that are left are found at the next look.
      if (orders.length === maxImmediatePolls) difference = Number.POSITIVE_INFINITY
      await pollOrdersNow(orders)
    }
  }

  /** What it could not answer while it was down is older than what waits. */
  async function pollUnknownOrders({ name }: Rail): Promise<void> {
    const asked = {
      rail: name,
      after: dueTimeAfter(0, service.wallClock()),
      attempts: maxAttemptsForImmediatePoll,
      limit: maxImmediatePolls,
    }
    await pollOrdersNow(await unknownRailOrders(service.db, asked))
  }

  async function pollOrdersNow(orders: readonly DueRailOrder[]): Promise<void> {
    for (const [merchantId, own] of Map.groupBy(orders, (order) => order.merchantId)) {
      const context = await contextOf(merchantId)
      await service.perform(hastenQuestions, context, { orderIds: own.map(({ orderId }) => orderId) })
    }
  }

  const pollSafely = () => void poll().catch(onFault)
  const timer = setInterval(pollSafely, pollIntervalMs).unref()
  // A payout that was made has told so.
  const endWatch = rails.length > 0 ? service.db.watch('events', pollSafely) : () => {}
  pollSafely()
  return {
    poll,
    stop: async () => {
      isStopped = true
      clearInterval(timer)
      endWatch()
      await Promise.race([
        Promise.all(running),
        new Promise((resolve) => setTimeout(resolve, shutdownTimeoutMs).unref()),
      ])
    },
  }
}

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

/** One of the first, one of the second, and so on: neither has to wait for all of the other. */
function interleave<Item>(first: readonly Item[], second: readonly Item[]): Item[] {
  const places = Math.max(first.length, second.length)
  return Array.from({ length: places }).flatMap((_, place) =>
    [first[place], second[place]].flatMap((item) => item ?? []),
  )
}
