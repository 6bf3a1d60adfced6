import type { WallTime } from '../../../core/ids.ts'
import { random as anyNumber } from '../../../core/ids.ts'
import type { Service } from '../../../operations/context.ts'
import { createContext } from '../../../operations/context.ts'
import type { Following } from '../../outbox/event-poller.ts'
import { followEvents } from '../../outbox/event-poller.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import type { Sender } from '../transport/send.ts'
import type { Lane } from './endpoint-worker.ts'
import { openLane } from './endpoint-worker.ts'
import type { Turn } from './fair-scheduler.ts'
import { createTurns } from './fair-scheduler.ts'
import type { SharedFeed } from './feed-cache.ts'
import { sharedFeed } from './feed-cache.ts'
import type { Leases } from './leases.ts'
import { logPruner } from './prune-delivery-log.ts'
import { endpointsByIds, endpointsSentTo } from './repository.ts'
import type { Throttle } from './throttle.ts'

/** How often it is looked for endpoints that were added or changed, and for what is due. */
const lookEveryMs = 1_000

/** How long what is on its way may take when the process ends; what is not recorded by then is sent again. */
const endMs = 3_000

/** Sends what happens to whoever wants to be told. */
export type Dispatcher = {
  /** Looks now for what may have changed, or be due. */
  readonly look: () => Promise<void>
  readonly stop: () => Promise<void>
}

type Options = {
  readonly service: Service
  readonly sender: Sender
  readonly leases: Leases
  readonly throttle: Throttle
  readonly onFault: (error: unknown) => void
  readonly random?: () => number
}

/** What is done for one merchant. */
type Merchant = {
  readonly id: string
  readonly lanes: Map<string, Lane>
  readonly following: Following
  readonly feed: SharedFeed
  readonly turn: Turn
}

type Wanted = Awaited<ReturnType<typeof endpointsSentTo>>[number]

/**
 * Sends the events of merchants to their endpoints, as many at once as limits allow, merchants and endpoints in turns: whoever
 * does not answer holds up nobody else.
 */
export function startDispatcher({
  service,
  sender,
  leases,
  throttle,
  onFault,
  random = anyNumber,
}: Options): Dispatcher {
  const merchants = new Map<string, Merchant>()
  const closing = new Set<Lane>()
  const pruneLog = logPruner(service)
  const turns = createTurns(throttle)
  let isStopped = false
  let looking: Promise<void> = Promise.resolve()
  let nextLook: Promise<void> | null = null
  let known: readonly Wanted[] = []
  /** The version of the endpoints that are known, where an engine can tell. */
  let seen: number | null = null
  // Whoever is stopped ends; a process that has nothing else to do does so as well.
  const timer = setInterval(() => look().catch(onFault), lookEveryMs).unref()

  /** Looks after what looks already, once for all who ask meanwhile: each sees what was there when it asked. */
  function look(): Promise<void> {
    nextLook ??= looking
      .catch(() => {})
      .then(() => {
        nextLook = null
        looking = lookNow()
        return looking
      })
    return nextLook
  }

  async function lookNow(): Promise<void> {
    if (isStopped) return
    await readEndpoints()
    for (const merchant of merchants.values()) for (const lane of merchant.lanes.values()) lane.tick()
    await pruneLog()
  }

  async function readEndpoints(): Promise<void> {
    const version = service.db.version('webhookEndpoints')
    if (version === null || version !== seen) known = await endpointsSentTo(service.db, {})
    seen = version
    const time = service.wallClock()
    const wanted = known.filter((endpoint) => isSentTo(endpoint, time))
    const byMerchant = Map.groupBy(wanted, ({ merchantId }) => merchantId)
    const own = await leases.take([...byMerchant.keys()])
    if (isStopped) return
    for (const merchant of merchants.values()) {
      closeOthers(merchant, own.has(merchant.id) ? (byMerchant.get(merchant.id) ?? []) : [])
    }
    for (const [merchantId, endpoints] of byMerchant) if (own.has(merchantId)) await serve(merchantId, endpoints)
  }

  /** Closes the lanes of endpoints that are not wanted, or not as they were. */
  function closeOthers(merchant: Merchant, wanted: readonly Wanted[]): void {
    const byId = new Map(wanted.map((endpoint) => [endpoint.id, endpoint]))
    for (const lane of merchant.lanes.values()) {
      const endpoint = byId.get(lane.endpoint.id)
      if (endpoint === undefined || !isSame(endpoint, lane.endpoint)) close(merchant, lane)
    }
    if (merchant.lanes.size > 0 || wanted.length > 0) return
    merchants.delete(merchant.id)
    merchant.turn.leave()
    merchant.following.stop()
  }

  /** Lets a lane end what it has begun; only then is another opened in its place. */
  function close(merchant: Merchant, lane: Lane): void {
    if (closing.has(lane)) return
    closing.add(lane)
    lane
      .stop()
      .then(() => {
        closing.delete(lane)
        merchant.lanes.delete(lane.endpoint.id)
        return look()
      })
      .catch(onFault)
  }

  async function serve(merchantId: string, endpoints: readonly Wanted[]): Promise<void> {
    const ids = endpoints.map(({ id }) => id).filter((id) => !merchants.get(merchantId)?.lanes.has(id))
    if (ids.length === 0) return
    const merchant = merchants.get(merchantId) ?? (await newMerchant(merchantId))
    merchants.set(merchantId, merchant)
    const rows = await endpointsByIds(service.db, { merchantId, ids })
    if (isStopped) return
    for (const endpoint of rows) if (isSentTo(endpoint, service.wallClock())) open(merchant, endpoint)
    // Reading may wait for nothing, and there may be thousands.
    await new Promise((resolve) => setImmediate(resolve))
  }

  async function newMerchant(id: string): Promise<Merchant> {
    const lanes = new Map<string, Lane>()
    const lookAtAll = () => {
      for (const lane of lanes.values()) lane.look()
    }
    const following = await followEvents({ db: service.db, merchantId: id }, lookAtAll)
    const feed = sharedFeed(createContext(service, id))
    return { id, lanes, following, feed, turn: turns.join(lanes) }
  }

  function open(merchant: Merchant, endpoint: StoredWebhookEndpoint): void {
    const lane = openLane(endpoint, {
      service,
      sender: {
        ...sender,
        send: (...posted) => merchant.turn.send(lane.isDoubtful(), () => sender.send(...posted)),
      },
      latest: merchant.following.latest,
      feed: merchant.feed,
      onReady: merchant.turn.noteReady,
      onChanged: () => close(merchant, lane),
      onFault,
      random,
    })
    merchant.lanes.set(endpoint.id, lane)
    lane.look()
  }

  async function endAll(): Promise<void> {
    await looking.catch(() => {})
    for (const { following } of merchants.values()) following.stop()
    const lanes = [...merchants.values()].flatMap(({ lanes }) => [...lanes.values()])
    await Promise.all(lanes.map((lane) => lane.stop()))
    await leases.giveBack()
  }

  look().catch(onFault)
  return {
    look,
    stop: async () => {
      isStopped = true
      clearInterval(timer)
      turns.stop()
      await Promise.race([endAll().catch(onFault), new Promise((resolve) => setTimeout(resolve, endMs).unref())])
      turns.end()
      sender.close()
    },
  }
}

/** Whether it is enabled, or to be tried now. */
function isSentTo({ status, probeAt }: Pick<Wanted, 'status' | 'probeAt'>, now: WallTime): boolean {
  return status === 'enabled' || (probeAt !== null && Date.parse(probeAt) <= now)
}

/** Whether nothing has changed that its owner, or the end of a probe, says. */
function isSame(one: Wanted, other: Wanted): boolean {
  return one.updatedAt === other.updatedAt && one.status === other.status
}
