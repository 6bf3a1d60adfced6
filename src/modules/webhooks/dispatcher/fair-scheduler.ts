import type { EndpointWorker } from './endpoint-worker.ts'
import type { Throttle } from './throttle.ts'

/** The maximum number of delivery attempts in flight, per process and per merchant. */
const [maxInFlight, maxUnhealthyInFlight] = [64, 32]
const [maxInFlightPerMerchant, maxUnhealthyInFlightPerMerchant] = [8, 4]

export type MerchantScheduler = {
  readonly markReady: () => void
  readonly send: <Result>(isUnhealthy: boolean, send: () => Promise<Result>) => Promise<Result>
}

/** The scheduler is round-robin among merchants, and among the endpoint workers of each merchant. */
export type FairScheduler = {
  readonly join: (workers: ReadonlyMap<string, EndpointWorker>) => MerchantScheduler
  readonly stop: () => void
  /** The promises of attempts in flight never settle, so the outcomes of these attempts are not recorded. */
  readonly abandonInFlight: () => void
}

type ScheduledMerchant = {
  readonly workers: ReadonlyMap<string, EndpointWorker>
  inFlight: number
  unhealthyInFlight: number
  nextWorkerIndex: number
}

export function createFairScheduler(throttle: Throttle): FairScheduler {
  const ready = new Set<ScheduledMerchant>()
  /**
   * Merchants whose attempt could not start because of the limit for unhealthy endpoints. The merchant that has waited
   * longest is first.
   */
  const rejected = new Set<ScheduledMerchant>()
  let inFlight = 0
  let unhealthyInFlight = 0
  let throttleTimer: NodeJS.Timeout | null = null
  let isStopped = false
  let isAbandoned = false

  function startAttempts(): void {
    for (const merchant of ready) {
      if (inFlight >= maxInFlight || isStopped || isThrottled()) return
      ready.delete(merchant)
      if (merchant.inFlight < maxInFlightPerMerchant && startNextAttempt(merchant)) {
        throttle.recordStart()
        ready.add(merchant)
      }
    }
  }

  function isThrottled(): boolean {
    if (throttleTimer !== null) return true
    const waitMs = throttle.waitMs()
    if (waitMs === 0) return false
    throttleTimer = setTimeout(() => {
      throttleTimer = null
      startAttempts()
    }, waitMs).unref()
    return true
  }

  function startNextAttempt(merchant: ScheduledMerchant): boolean {
    const workers = [...merchant.workers.values()]
    const isMerchantFull = merchant.unhealthyInFlight >= maxUnhealthyInFlightPerMerchant
    const isFull = isMerchantFull || unhealthyInFlight >= maxUnhealthyInFlight
    for (let i = 0; i < workers.length; i++) {
      const worker = workers[(merchant.nextWorkerIndex + i) % workers.length] as EndpointWorker
      // Delivery attempts to unhealthy endpoints can take long to fail, so part of the concurrency limit is reserved
      // for healthy endpoints.
      if (isFull && worker.isUnhealthy()) {
        if (!isMerchantFull) rejected.add(merchant)
        continue
      }
      if (!worker.startAttempt()) continue
      merchant.nextWorkerIndex = (merchant.nextWorkerIndex + i + 1) % workers.length
      return true
    }
    return false
  }

  /**
   * Waiting merchants come first, so that the merchant whose attempt has ended does not take the free capacity again.
   */
  function wakeRejectedMerchants(): void {
    for (const merchant of rejected) {
      if (unhealthyInFlight >= maxUnhealthyInFlight) return
      rejected.delete(merchant)
      markReady(merchant)
    }
  }

  function markReady(merchant: ScheduledMerchant): void {
    ready.add(merchant)
    startAttempts()
  }

  async function sendAndCount<Result>(
    merchant: ScheduledMerchant,
    isUnhealthy: boolean,
    send: () => Promise<Result>,
  ): Promise<Result> {
    const unhealthy = isUnhealthy ? 1 : 0
    inFlight++
    merchant.inFlight++
    unhealthyInFlight += unhealthy
    merchant.unhealthyInFlight += unhealthy
    try {
      return await send()
    } finally {
      inFlight--
      merchant.inFlight--
      unhealthyInFlight -= unhealthy
      merchant.unhealthyInFlight -= unhealthy
      wakeRejectedMerchants()
      // A delivery attempt that this process aborts must not count as a failure of the receiver.
      if (isAbandoned) await new Promise(() => {})
    }
  }

  function join(workers: ReadonlyMap<string, EndpointWorker>): MerchantScheduler {
    const merchant: ScheduledMerchant = { workers, inFlight: 0, unhealthyInFlight: 0, nextWorkerIndex: 0 }
    return {
      markReady: () => markReady(merchant),
      send: (isUnhealthy, send) => sendAndCount(merchant, isUnhealthy, send),
    }
  }

  return {
    join,
    stop: () => {
      isStopped = true
    },
    abandonInFlight: () => {
      isAbandoned = true
    },
  }
}
