import type { Lane } from './endpoint-worker.ts'
import type { Throttle } from './throttle.ts'

/** Attempts at once: of this process, and for one merchant; and of each so many to endpoints that are doubtful. */
const [mostAtOnce, mostToDoubtful] = [64, 32]
const [mostOfMerchant, mostToDoubtfulOfMerchant] = [8, 4]

/** The turns of one merchant. */
export type Turn = {
  /** Notes that a lane may have something to begin. */
  readonly noteReady: () => void
  /** Sends, and counts that for as long as it takes; `isDoubtful` where it is whether the endpoint answers. */
  readonly send: <Sent>(isDoubtful: boolean, send: () => Promise<Sent>) => Promise<Sent>
  readonly leave: () => void
}

/** Has merchants begin attempts in turns, and lanes within them, as many at once as limits allow. */
export type Turns = {
  /** Gives a merchant its turns; what it has lanes for may change. */
  readonly join: (lanes: ReadonlyMap<string, Lane>) => Turn
  /** Begins nothing more. */
  readonly stop: () => void
  /** Has nobody hear of what is still on its way. */
  readonly end: () => void
}

/** A merchant, and how much is on its way for it. */
type Merchant = {
  readonly lanes: ReadonlyMap<string, Lane>
  sending: number
  /** Those of them to endpoints of which it is doubtful that they answer. */
  toDoubtful: number
  /** Where its lanes are taken up next, so that each has its turn. */
  next: number
}

export function createTurns(throttle: Throttle): Turns {
  /** Merchants that may have something to begin, in the order of their turns. */
  const ready = new Set<Merchant>()
  /** Merchants that were refused a place for what is doubtful, in the order in which they get one. */
  const refused = new Set<Merchant>()
  let sending = 0
  let toDoubtful = 0
  /** What begins when the throttle lets it. */
  let beginning: NodeJS.Timeout | null = null
  let isStopped = false
  let isOver = false

  function begin(): void {
    for (const merchant of ready) {
      if (sending >= mostAtOnce || isStopped || isThrottled()) return
      ready.delete(merchant)
      // To the end of the queue, if it had something to begin.
      if (merchant.sending < mostOfMerchant && beginOne(merchant)) {
        throttle.count()
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
      begin()
    }, waitMs).unref()
    return true
  }

  function beginOne(merchant: Merchant): boolean {
    const lanes = [...merchant.lanes.values()]
    const isOwnFull = merchant.toDoubtful >= mostToDoubtfulOfMerchant
    const isFull = isOwnFull || toDoubtful >= mostToDoubtful
    for (let place = 0; place < lanes.length; place++) {
      const lane = lanes[(merchant.next + place) % lanes.length] as Lane
      // Those may take long to fail: the others have the rest for themselves.
      if (isFull && lane.isDoubtful()) {
        if (!isOwnFull) refused.add(merchant)
        continue
      }
      if (!lane.begin()) continue
      merchant.next = (merchant.next + place + 1) % lanes.length
      return true
    }
    return false
  }

  /** Gives what became free to those who wait for it: who had it would take it again at once. */
  function giveFreed(): void {
    for (const merchant of refused) {
      if (toDoubtful >= mostToDoubtful) return
      refused.delete(merchant)
      noteReady(merchant)
    }
  }

  function noteReady(merchant: Merchant): void {
    ready.add(merchant)
    begin()
  }

  async function sendCounted<Sent>(merchant: Merchant, isDoubtful: boolean, send: () => Promise<Sent>): Promise<Sent> {
    const doubtful = isDoubtful ? 1 : 0
    sending++
    merchant.sending++
    toDoubtful += doubtful
    merchant.toDoubtful += doubtful
    try {
      return await send()
    } finally {
      sending--
      merchant.sending--
      toDoubtful -= doubtful
      merchant.toDoubtful -= doubtful
      if (isDoubtful) giveFreed()
      // What is broken off says nothing of the receiver.
      if (isOver) await new Promise(() => {})
    }
  }

  function join(lanes: ReadonlyMap<string, Lane>): Turn {
    const merchant: Merchant = { lanes, sending: 0, toDoubtful: 0, next: 0 }
    return {
      noteReady: () => noteReady(merchant),
      send: (isDoubtful, send) => sendCounted(merchant, isDoubtful, send),
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
    end: () => {
      isOver = true
    },
  }
}
