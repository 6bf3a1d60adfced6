import { dueTimeAfter } from '../../../core/ids-and-clock.ts'
import type { Context, Service } from '../../../operations/context.ts'
import { pausedRails } from '../../rail-orders/repository.ts'
import type { Rail } from '../adapters/rail.ts'
import { duePolls, dueSubmissions, postponedRailOrders, unknownRailOrders } from '../repository.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import { maxPollWaits, scheduleImmediatePolls } from './poll-schedule.ts'
import { processOrder } from './process-order.ts'
import { processUnreadReports } from './receive-reports.ts'

const pollIntervalMs = 1_000

/** If the shutdown cuts off a call, the order is polled later. */
const shutdownTimeoutMs = 3_000

const maxImmediatePolls = 1_000

/**
 * Orders with more than two submissions are not polled immediately when a rail recovers, because an order that always
 * fails would open the circuit breaker again.
 */
const maxAttemptsForImmediatePoll = 2

/** If the machine's clock goes back by more than a second, stored due times may be too far in the future. */
const clockToleranceMs = 1_000

/** Maximum due times include this margin, for calls in flight and for clock skew between machines. */
const postponedMarginMs = 60_000

/** The worker checks at this interval whether another machine's clock has postponed orders. */
const postponedCheckIntervalMs = 600_000

export type RailWorker = {
  readonly poll: () => Promise<void>
  readonly stop: () => Promise<void>
}

type RailWorkerOptions = {
  readonly service: Service
  readonly rails: readonly Rail[]
  /** The rails to which this process submits no payouts. Rails can also be paused in the database. */
  readonly paused: 'all' | readonly string[]
  readonly contextOf: (merchantId: string) => Promise<Context>
  readonly onError: (error: unknown) => void
  readonly onUnknownOrders: (rail: string, orders: readonly string[]) => void
  readonly clock?: () => number
}

type RailRuntime = { readonly rail: Rail; readonly inFlight: Set<string>; readonly breaker: CircuitBreaker }

type DueRailOrder = { readonly merchantId: string; readonly orderId: string }

/** Several processes can run a worker, because a worker claims an order before it calls the bank. */
export function startRailWorker({
  service,
  rails,
  paused,
  contextOf,
  onError,
  onUnknownOrders,
  clock = () => performance.now(),
}: RailWorkerOptions): RailWorker {
  const runtimes = rails.map(
    (rail): RailRuntime => ({ rail, inFlight: new Set(), breaker: createCircuitBreaker(clock) }),
  )
  const running = new Set<Promise<void>>()
  let isStopped = false
  let polling: Promise<void> | null = null
  let isPollRequested = false
  let clockDifference = Number.POSITIVE_INFINITY
  let postponedCheckedAt = clock()

  /** If a poll is running, all further calls of `poll` together cause one more poll. */
  function poll(): Promise<void> {
    if (polling) isPollRequested = true
    polling ??= pollUntilIdle().finally(() => {
      polling = null
    })
    return polling
  }

  async function pollUntilIdle(): Promise<void> {
    do {
      isPollRequested = false
      await pollOnce()
    } while (isPollRequested && !isStopped)
  }

  async function pollOnce(): Promise<void> {
    if (isStopped) return
    const pausedInDatabase = (await pausedRails(service.db, {})).map(({ rail }) => rail)
    const isPaused = ({ name }: Rail) => paused === 'all' || paused.includes(name) || pausedInDatabase.includes(name)
    const mayBePostponed = hasClockGoneBack() || clock() - postponedCheckedAt >= postponedCheckIntervalMs
    if (mayBePostponed) postponedCheckedAt = clock()
    for (const runtime of runtimes) {
      if (mayBePostponed) await pollPostponedOrders(runtime.rail)
      const unknown = await processUnreadReports(service, runtime.rail, onError)
      if (unknown.length > 0) onUnknownOrders(runtime.rail.name, unknown)
      await startDueCalls(runtime, isPaused(runtime.rail))
    }
  }

  async function startDueCalls(runtime: RailRuntime, isPaused: boolean): Promise<void> {
    const { rail, inFlight, breaker } = runtime
    const freeSlots = breaker.allowedCalls(rail.maxConcurrentCalls, inFlight.size)
    if (freeSlots <= 0) return
    const range = { rail: rail.name, limit: freeSlots + inFlight.size }
    const polls = await duePolls(service.db, { ...range, now: dueTimeAfter(0, service.wallClock()) })
    const submissions = isPaused ? [] : await dueSubmissions(service.db, range)
    // Orders with an unknown outcome come first, because they are few and older than the queued orders.
    const [unknown, others] = partition(polls, ({ state }) => state === 'UNKNOWN')
    const due = [...unknown, ...interleave(others, submissions)].filter(({ orderId }) => !inFlight.has(orderId))
    for (const order of due.slice(0, freeSlots)) startCall(runtime, order)
  }

  function startCall(runtime: RailRuntime, { merchantId, orderId }: DueRailOrder): void {
    const { rail, inFlight, breaker } = runtime
    inFlight.add(orderId)
    const run = contextOf(merchantId)
      .then((context) => processOrder(context, rail, orderId))
      .then(async (outcome) => {
        if (outcome === 'unanswered' && !rail.hasIndependentFailures) breaker.recordFailure()
        if (outcome === 'answered' && breaker.recordSuccess()) await pollUnknownOrders(rail)
        return true
      })
      .catch((error: unknown) => {
        onError(error)
        return false
      })
      .then((isDone) => {
        inFlight.delete(orderId)
        running.delete(run)
        // Polls again, because another order may be waiting for a free slot. After an error, the worker waits for the
        // next poll interval.
        if (isDone && !isStopped) pollSafely()
      })
    running.add(run)
  }

  /**
   * The first call of `hasClockGoneBack` returns true, because the clock may have gone back before the process started.
   */
  function hasClockGoneBack(): boolean {
    const before = clockDifference
    clockDifference = service.wallClock() - clock()
    return clockDifference < before - clockToleranceMs
  }

  /** Polls orders whose next poll was scheduled too late by a clock that was ahead. */
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
      // If the query returned `maxImmediatePolls` orders, more orders may be postponed, so the next poll checks again.
      if (orders.length === maxImmediatePolls) clockDifference = Number.POSITIVE_INFINITY
      await pollOrdersNow(orders)
    }
  }

  async function pollUnknownOrders({ name }: Rail): Promise<void> {
    const orders = await unknownRailOrders(service.db, {
      rail: name,
      after: dueTimeAfter(0, service.wallClock()),
      attempts: maxAttemptsForImmediatePoll,
      limit: maxImmediatePolls,
    })
    await pollOrdersNow(orders)
  }

  async function pollOrdersNow(orders: readonly DueRailOrder[]): Promise<void> {
    for (const [merchantId, merchantOrders] of Map.groupBy(orders, (order) => order.merchantId)) {
      const context = await contextOf(merchantId)
      await service.perform(scheduleImmediatePolls, context, { orderIds: merchantOrders.map(({ orderId }) => orderId) })
    }
  }

  const pollSafely = () => void poll().catch(onError)
  const timer = setInterval(pollSafely, pollIntervalMs).unref()
  // Every new payout records an event, and the event triggers a poll.
  const unwatch = rails.length > 0 ? service.db.watch('events', pollSafely) : () => {}
  pollSafely()
  return {
    poll,
    stop: async () => {
      isStopped = true
      clearInterval(timer)
      unwatch()
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

function interleave<Item>(first: readonly Item[], second: readonly Item[]): Item[] {
  const length = Math.max(first.length, second.length)
  return Array.from({ length }).flatMap((_, i) => [first[i], second[i]].flatMap((item) => item ?? []))
}
