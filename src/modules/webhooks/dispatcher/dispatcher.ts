import { setImmediate as nextTurn } from 'node:timers/promises'
import type { WallTime } from '../../../core/ids-and-clock.ts'
import { random as systemRandom } from '../../../core/ids-and-clock.ts'
import type { Context, Service } from '../../../operations/context.ts'
import { createContext } from '../../../operations/context.ts'
import type { EventSubscription } from '../../outbox/event-poller.ts'
import { subscribeToEvents } from '../../outbox/event-poller.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import type { Sender } from '../transport/send.ts'
import type { EndpointWorker } from './endpoint-worker.ts'
import { createEndpointWorker } from './endpoint-worker.ts'
import type { MerchantScheduler } from './fair-scheduler.ts'
import { createFairScheduler } from './fair-scheduler.ts'
import type { FeedCache } from './feed-reader.ts'
import { createFeedCache } from './feed-reader.ts'
import type { Leases } from './leases.ts'
import { activeEndpoints, endpointsByIds } from './repository.ts'
import type { Throttle } from './throttle.ts'

const pollIntervalMs = 1_000

/** If the outcome of an attempt was not recorded before the shutdown, the next process repeats the attempt. */
const drainTimeoutMs = 3_000

export type Dispatcher = {
  readonly poll: () => Promise<void>
  readonly stop: () => Promise<void>
}

type DispatcherOptions = {
  readonly service: Service
  readonly sender: Sender
  readonly leases: Leases
  readonly throttle: Throttle
  readonly onError: (error: unknown) => void
  readonly random?: () => number
}

type MerchantDispatch = {
  readonly id: string
  readonly context: Context
  readonly workers: Map<string, EndpointWorker>
  readonly subscription: EventSubscription
  readonly feed: FeedCache
  readonly scheduler: MerchantScheduler
}

type ActiveEndpoint = Awaited<ReturnType<typeof activeEndpoints>>[number]

export function startDispatcher({
  service,
  sender,
  leases,
  throttle,
  onError,
  random = systemRandom,
}: DispatcherOptions): Dispatcher {
  const merchants = new Map<string, MerchantDispatch>()
  const scheduler = createFairScheduler(throttle)
  let isStopped = false
  let currentPoll: Promise<void> = Promise.resolve()
  let queuedPoll: Promise<void> | null = null
  let endpoints: readonly ActiveEndpoint[] = []
  let endpointsVersion: number | null = null
  const timer = setInterval(() => poll().catch(onError), pollIntervalMs).unref()

  function poll(): Promise<void> {
    queuedPoll ??= currentPoll
      .catch(() => {})
      .then(() => {
        queuedPoll = null
        currentPoll = pollOnce()
        return currentPoll
      })
    return queuedPoll
  }

  async function pollOnce(): Promise<void> {
    if (isStopped) return
    await syncWorkers()
    for (const { workers } of merchants.values()) for (const worker of workers.values()) worker.tick()
  }

  async function syncWorkers(): Promise<void> {
    const version = service.db.tableVersion('webhookEndpoints')
    if (version === null || version !== endpointsVersion) endpoints = await activeEndpoints(service.db, {})
    endpointsVersion = version
    const time = service.wallClock()
    const active = endpoints.filter((endpoint) => isActive(endpoint, time))
    const byMerchant = Map.groupBy(active, ({ merchantId }) => merchantId)
    const leased = await leases.acquire([...byMerchant.keys()])
    for (const merchant of merchants.values()) {
      drainStaleWorkers(merchant, leased.has(merchant.id) ? (byMerchant.get(merchant.id) ?? []) : [])
    }
    for (const [merchantId, active] of byMerchant) {
      if (isStopped) return
      if (leased.has(merchantId)) await startWorkers(merchantId, active)
    }
  }

  function drainStaleWorkers(merchant: MerchantDispatch, active: readonly ActiveEndpoint[]): void {
    const byId = new Map(active.map((endpoint) => [endpoint.id, endpoint]))
    for (const worker of merchant.workers.values()) {
      const endpoint = byId.get(worker.endpoint.id)
      if (endpoint?.updatedAt !== worker.endpoint.updatedAt) drainWorker(merchant, worker)
    }
    if (merchant.workers.size > 0) return
    merchants.delete(merchant.id)
    merchant.subscription.stop()
  }

  /** A new worker for the endpoint starts only after the outcomes of the old worker's attempts are recorded. */
  function drainWorker(merchant: MerchantDispatch, worker: EndpointWorker): void {
    worker
      .drain()
      .then(() => {
        merchant.workers.delete(worker.endpoint.id)
        return poll()
      })
      .catch(onError)
  }

  async function startWorkers(merchantId: string, active: readonly ActiveEndpoint[]): Promise<void> {
    const ids = active.map(({ id }) => id).filter((id) => !merchants.get(merchantId)?.workers.has(id))
    if (ids.length === 0) return
    const merchant = merchants.get(merchantId) ?? (await openMerchantDispatch(merchantId))
    merchants.set(merchantId, merchant)
    const rows = await endpointsByIds(service.db, { merchantId, ids })
    for (const endpoint of rows) if (isActive(endpoint, service.wallClock())) startWorker(merchant, endpoint)
    // Yields to the event loop, because there can be thousands of merchants and SQLite reads are synchronous.
    await nextTurn()
  }

  async function openMerchantDispatch(id: string): Promise<MerchantDispatch> {
    const workers = new Map<string, EndpointWorker>()
    const pollAll = () => {
      for (const worker of workers.values()) worker.poll()
    }
    const context = createContext(service, id)
    const subscription = await subscribeToEvents(context, pollAll)
    const feed = createFeedCache(context)
    return { id, context, workers, subscription, feed, scheduler: scheduler.join(workers) }
  }

  function startWorker(merchant: MerchantDispatch, endpoint: StoredWebhookEndpoint): void {
    const worker = createEndpointWorker(endpoint, {
      context: merchant.context,
      sender: {
        ...sender,
        send: (...request) => merchant.scheduler.send(worker.isUnhealthy(), () => sender.send(...request)),
      },
      latest: merchant.subscription.latest,
      feed: merchant.feed,
      onReady: merchant.scheduler.markReady,
      onChanged: () => drainWorker(merchant, worker),
      onError,
      random,
    })
    merchant.workers.set(endpoint.id, worker)
    worker.poll()
  }

  async function drainAll(): Promise<void> {
    await currentPoll.catch(() => {})
    for (const { subscription } of merchants.values()) subscription.stop()
    const workers = [...merchants.values()].flatMap((merchant) => [...merchant.workers.values()])
    await Promise.all(workers.map((worker) => worker.drain()))
    await leases.release()
  }

  poll().catch(onError)
  return {
    poll,
    stop: async () => {
      isStopped = true
      clearInterval(timer)
      scheduler.stop()
      await Promise.race([
        drainAll().catch(onError),
        new Promise((resolve) => setTimeout(resolve, drainTimeoutMs).unref()),
      ])
      scheduler.abandonInFlight()
      sender.close()
    },
  }
}

function isActive({ status, probeAt }: Pick<ActiveEndpoint, 'status' | 'probeAt'>, now: WallTime): boolean {
  return status === 'enabled' || (probeAt !== null && Date.parse(probeAt) <= now)
}
