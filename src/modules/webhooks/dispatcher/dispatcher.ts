import type { WallTime } from '../../../core/ids-and-clock.ts'
import { random as anyNumber } from '../../../core/ids-and-clock.ts'
import type { Service } from '../../../operations/context.ts'
import { createContext } from '../../../operations/context.ts'
import type { EventSubscription } from '../../outbox/event-poller.ts'
import { subscribeToEvents } from '../../outbox/event-poller.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import type { Sender } from '../transport/send.ts'
import type { EndpointWorker } from './endpoint-worker.ts'
import { createEndpointWorker } from './endpoint-worker.ts'
import type { MerchantScheduler } from './fair-scheduler.ts'
import { createFairScheduler } from './fair-scheduler.ts'
import type { FeedCache } from './feed-cache.ts'
import { createFeedCache } from './feed-cache.ts'
import type { Leases } from './leases.ts'
import { createLogPruner } from './prune-delivery-log.ts'
import { activeEndpoints, endpointsByIds } from './repository.ts'
import type { Throttle } from './throttle.ts'

/** How often it is looked for endpoints that were added or changed, and for what is due. */
const pollIntervalMs = 1_000

/** How long what is on its way may take when the process ends; what is not recorded by then is sent again. */
const drainTimeoutMs = 3_000

/** Sends what happens to whoever wants to be told. */
export type Dispatcher = {
  /** Looks now for what may have changed, or be due. */
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

/** What is done for one merchant. */
type MerchantDispatch = {
  readonly id: string
  readonly workers: Map<string, EndpointWorker>
  readonly subscription: EventSubscription
  readonly feed: FeedCache
  readonly scheduler: MerchantScheduler
}

type ActiveEndpoint = Awaited<ReturnType<typeof activeEndpoints>>[number]

/**
 * Sends the events of merchants to their endpoints, as many at once as limits allow, merchants and endpoints in turns: whoever
 * does not answer holds up nobody else.
 */
export function startDispatcher({
  service,
  sender,
  leases,
  throttle,
  onError: onFault,
  random = anyNumber,
}: DispatcherOptions): Dispatcher {
  const merchants = new Map<string, MerchantDispatch>()
  const closing = new Set<EndpointWorker>()
  const pruneLog = createLogPruner(service)
  const turns = createFairScheduler(throttle)
  let isStopped = false
  let looking: Promise<void> = Promise.resolve()
  let nextLook: Promise<void> | null = null
  let known: readonly ActiveEndpoint[] = []
  /** The version of the endpoints that are known, where an engine can tell. */
  let seen: number | null = null
  // Whoever is stopped ends; a process that has nothing else to do does so as well.
  const timer = setInterval(() => poll().catch(onFault), pollIntervalMs).unref()

  /** Looks after what looks already, once for all who ask meanwhile: each sees what was there when it asked. */
  function poll(): Promise<void> {
    nextLook ??= looking
      .catch(() => {})
      .then(() => {
        nextLook = null
        looking = pollOnce()
        return looking
      })
    return nextLook
  }

  async function pollOnce(): Promise<void> {
    if (isStopped) return
    await syncWorkers()
    for (const merchant of merchants.values()) for (const lane of merchant.workers.values()) lane.tick()
    await pruneLog()
  }

  async function syncWorkers(): Promise<void> {
    const version = service.db.tableVersion('webhookEndpoints')
    if (version === null || version !== seen) known = await activeEndpoints(service.db, {})
    seen = version
    const time = service.wallClock()
    const wanted = known.filter((endpoint) => isActive(endpoint, time))
    const byMerchant = Map.groupBy(wanted, ({ merchantId }) => merchantId)
    const own = await leases.acquire([...byMerchant.keys()])
    if (isStopped) return
    for (const merchant of merchants.values()) {
      drainStaleWorkers(merchant, own.has(merchant.id) ? (byMerchant.get(merchant.id) ?? []) : [])
    }
    for (const [merchantId, endpoints] of byMerchant) if (own.has(merchantId)) await startWorkers(merchantId, endpoints)
  }

  /** Closes the lanes of endpoints that are not wanted, or not as they were. */
  function drainStaleWorkers(merchant: MerchantDispatch, wanted: readonly ActiveEndpoint[]): void {
    const byId = new Map(wanted.map((endpoint) => [endpoint.id, endpoint]))
    for (const lane of merchant.workers.values()) {
      const endpoint = byId.get(lane.endpoint.id)
      if (endpoint === undefined || !isUnchanged(endpoint, lane.endpoint)) drainWorker(merchant, lane)
    }
    if (merchant.workers.size > 0 || wanted.length > 0) return
    merchants.delete(merchant.id)
    merchant.scheduler.leave()
    merchant.subscription.stop()
  }

  /** Lets a lane end what it has begun; only then is another opened in its place. */
  function drainWorker(merchant: MerchantDispatch, lane: EndpointWorker): void {
    if (closing.has(lane)) return
    closing.add(lane)
    lane
      .drain()
      .then(() => {
        closing.delete(lane)
        merchant.workers.delete(lane.endpoint.id)
        return poll()
      })
      .catch(onFault)
  }

  async function startWorkers(merchantId: string, endpoints: readonly ActiveEndpoint[]): Promise<void> {
    const ids = endpoints.map(({ id }) => id).filter((id) => !merchants.get(merchantId)?.workers.has(id))
    if (ids.length === 0) return
    const merchant = merchants.get(merchantId) ?? (await openMerchantDispatch(merchantId))
    merchants.set(merchantId, merchant)
    const rows = await endpointsByIds(service.db, { merchantId, ids })
    if (isStopped) return
    for (const endpoint of rows) if (isActive(endpoint, service.wallClock())) startWorker(merchant, endpoint)
    // Reading may wait for nothing, and there may be thousands.
    await new Promise((resolve) => setImmediate(resolve))
  }

  async function openMerchantDispatch(id: string): Promise<MerchantDispatch> {
    const lanes = new Map<string, EndpointWorker>()
    const pollAll = () => {
      for (const lane of lanes.values()) lane.poll()
    }
    const following = await subscribeToEvents({ db: service.db, merchantId: id }, pollAll)
    const feed = createFeedCache(createContext(service, id))
    return { id, workers: lanes, subscription: following, feed, scheduler: turns.join(lanes) }
  }

  function startWorker(merchant: MerchantDispatch, endpoint: StoredWebhookEndpoint): void {
    const lane = createEndpointWorker(endpoint, {
      service,
      sender: {
        ...sender,
        send: (...posted) => merchant.scheduler.send(lane.isUnhealthy(), () => sender.send(...posted)),
      },
      latest: merchant.subscription.latest,
      feed: merchant.feed,
      onReady: merchant.scheduler.markReady,
      onChanged: () => drainWorker(merchant, lane),
      onError: onFault,
      random,
    })
    merchant.workers.set(endpoint.id, lane)
    lane.poll()
  }

  async function drainAll(): Promise<void> {
    await looking.catch(() => {})
    for (const { subscription: following } of merchants.values()) following.stop()
    const lanes = [...merchants.values()].flatMap(({ workers: lanes }) => [...lanes.values()])
    await Promise.all(lanes.map((lane) => lane.drain()))
    await leases.release()
  }

  poll().catch(onFault)
  return {
    poll,
    stop: async () => {
      isStopped = true
      clearInterval(timer)
      turns.stop()
      await Promise.race([
        drainAll().catch(onFault),
        new Promise((resolve) => setTimeout(resolve, drainTimeoutMs).unref()),
      ])
      turns.abandonInFlight()
      sender.close()
    },
  }
}

/** Whether it is enabled, or to be tried now. */
function isActive({ status, probeAt }: Pick<ActiveEndpoint, 'status' | 'probeAt'>, now: WallTime): boolean {
  return status === 'enabled' || (probeAt !== null && Date.parse(probeAt) <= now)
}

/** Whether nothing has changed that its owner, or the end of a probe, says. */
function isUnchanged(one: ActiveEndpoint, other: ActiveEndpoint): boolean {
  return one.updatedAt === other.updatedAt && one.status === other.status
}
