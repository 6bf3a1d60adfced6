import type { EndpointWorker } from './endpoint-worker.ts'
import type { Throttle } from './throttle.ts'

/** Attempts at once: of this process, and for one merchant; and of each so many to endpoints that are doubtful. */
const [maxInFlight, maxUnhealthyInFlight] = [64, 32]
const [maxInFlightPerMerchant, maxUnhealthyInFlightPerMerchant] = [8, 4]

/** The turns of one merchant. */
export type MerchantScheduler = {
  /** Notes that a lane may have something to begin. */
  readonly markReady: () => void
  /** Sends, and counts that for as long as it takes; `isDoubtful` where it is whether the endpoint answers. */
  readonly send: <Sent>(isDoubtful: boolean, send: () => Promise<Sent>) => Promise<Sent>
  readonly leave: () => void
}

/** Has merchants begin attempts in turns, and lanes within them, as many at once as limits allow. */
export type FairScheduler = {
  /** Gives a merchant its turns; what it has lanes for may change. */
  readonly join: (lanes: ReadonlyMap<string, EndpointWorker>) => MerchantScheduler
  /** Begins nothing more. */
  readonly stop: () => void
  /** Has nobody hear of what is still on its way. */
  readonly abandonInFlight: () => void
}

/** A merchant, and how much is on its way for it. */
type ScheduledMerchant = {
  readonly workers: ReadonlyMap<string, EndpointWorker>
  inFlight: number
  /** Those of them to endpoints of which it is doubtful that they answer. */
  unhealthyInFlight: number
  /** Where its lanes are taken up next, so that each has its turn. */
  nextWorkerIndex: number
}

export function createFairScheduler(throttle: Throttle): FairScheduler {
  /** Merchants that may have something to begin, in the order of their turns. */
  const ready = new Set<ScheduledMerchant>()
  /** Merchants that were refused a place for what is doubtful, in the order in which they get one. */
  const refused = new Set<ScheduledMerchant>()
  let sending = 0
  let toDoubtful = 0
  /** What begins when the throttle lets it. */
  let beginning: NodeJS.Timeout | null = null
  let isStopped = false
  let isOver = false

  function startAttempts(): void {
    for (const merchant of ready) {
      if (sending >= maxInFlight || isStopped || isThrottled()) return
      ready.delete(merchant)
      // To the end of the queue, if it had something to begin.
      if (merchant.inFlight < maxInFlightPerMerchant && startNextAttempt(merchant)) {
        throttle.recordStart()
        ready.add(merchant)
      }
    }
  }

  /** Whether nothing may begin just now; then all that is ready does a little later. */
  function isThrottled(): boolean {
    if (beginning !== null) return true
    const waitMs = throttle.waitMs()
    if (waitMs === 0) return false
    beginning = setTimeout(() => {
      beginning = null
      startAttempts()
    }, waitMs).unref()
    return true
  }

  function startNextAttempt(merchant: ScheduledMerchant): boolean {
    const lanes = [...merchant.workers.values()]
    const isOwnFull = merchant.unhealthyInFlight >= maxUnhealthyInFlightPerMerchant
    const isFull = isOwnFull || toDoubtful >= maxUnhealthyInFlight
    for (let place = 0; place < lanes.length; place++) {
      const lane = lanes[(merchant.nextWorkerIndex + place) % lanes.length] as EndpointWorker
      // Those may take long to fail: the others have the rest for themselves.
      if (isFull && lane.isUnhealthy()) {
        if (!isOwnFull) refused.add(merchant)
        continue
      }
      if (!lane.startAttempt()) continue
      merchant.nextWorkerIndex = (merchant.nextWorkerIndex + place + 1) % lanes.length
      return true
    }
    return false
  }

  /** Gives what became free to those who wait for it: who had it would take it again at once. */
  function wakeRejectedMerchants(): void {
    for (const merchant of refused) {
      if (toDoubtful >= maxUnhealthyInFlight) return
      refused.delete(merchant)
      markReady(merchant)
    }
  }

  function markReady(merchant: ScheduledMerchant): void {
    ready.add(merchant)
    startAttempts()
  }

  async function sendAndCount<Sent>(
    merchant: ScheduledMerchant,
    isDoubtful: boolean,
    send: () => Promise<Sent>,
  ): Promise<Sent> {
    const doubtful = isDoubtful ? 1 : 0
    sending++
    merchant.inFlight++
    toDoubtful += doubtful
    merchant.unhealthyInFlight += doubtful
    try {
      return await send()
    } finally {
      sending--
      merchant.inFlight--
      toDoubtful -= doubtful
      merchant.unhealthyInFlight -= doubtful
      if (isDoubtful) wakeRejectedMerchants()
      // What is broken off says nothing of the receiver.
      if (isOver) await new Promise(() => {})
    }
  }

  function join(lanes: ReadonlyMap<string, EndpointWorker>): MerchantScheduler {
    const merchant: ScheduledMerchant = { workers: lanes, inFlight: 0, unhealthyInFlight: 0, nextWorkerIndex: 0 }
    return {
      markReady: () => markReady(merchant),
      send: (isDoubtful, send) => sendAndCount(merchant, isDoubtful, send),
      leave: () => {
        ready.delete(merchant)
        refused.delete(merchant)
      },
    }
  }

  return {
    join,
    stop: () => {
      isStopped = true
      if (beginning !== null) clearTimeout(beginning)
    },
    abandonInFlight: () => {
      isOver = true
    },
  }
}
