/** Events that are read and not over; where so many are, those that wait for another of their object make room. */
export const maxOpen = 256

/** What has its place in the order of all, and within that in the order of its object. */
export type QueueEntry = { readonly sequence: number; readonly objectId: string }

/**
 * What is to be sent to one endpoint, in its order: what was read of the feed, and what is to be tried again. Of one object
 * nothing is begun before it is recorded what came of the last, and nothing while something before it is pending; objects never
 * wait for one another.
 */
export type DeliveryQueue<Item extends QueueEntry> = {
  /** Takes what may be begun next, if anything may. */
  readonly takeNext: () => Item | null
  /** Notes that an attempt at what was begun has ended; its object stays busy until that is recorded. */
  readonly finish: (item: Item) => void
  /**
   * Notes that it was recorded what came of attempts, or that events wait, and of which of their objects something is pending
   * now. Due deliveries of these objects that were read before are dropped and must be read again.
   */
  readonly markRecorded: (recorded: readonly QueueEntry[], pending: ReadonlySet<string>) => void
  /** Adds what came next in the feed; `pending` has the objects among these, and maybe others, of which something is pending. */
  readonly addOpen: (items: readonly Item[], pending: readonly string[]) => void
  /** To be called before it is read what is due: what is recorded meanwhile may change that. */
  readonly startReadingRetries: () => void
  /** Whether what was read of an object since then may be so no more. */
  readonly isStale: (objectId: string) => boolean
  /** Adds what is due: the first that is pending of an object, which is not stale. */
  readonly addRetry: (item: Item) => void
  readonly hasRetry: (sequence: number) => boolean
  readonly retryCount: () => number
  readonly openCount: () => number
  /** The first of the feed that was read and is not over. */
  readonly firstOpen: () => Item | undefined
  readonly inFlightCount: () => number
  /** Whether all that is open waited for something else of its object when it was last tried to begin something. */
  readonly isBlocked: () => boolean
}

/**
 * Makes a queue, which knows nothing of time and does nothing but keep order.
 *
 * @param onPutOff called with what was open and must wait until what came before it of its object is over; that is to be recorded
 */
export function createDeliveryQueue<Item extends QueueEntry>(
  onPutOff: (items: readonly Item[]) => void,
): DeliveryQueue<Item> {
  /** What was read of the feed and is not over, in its order. */
  let open: Item[] = []
  /** What is due again and was not begun. */
  let retries: Item[] = []
  let isTurnOfRetries = false
  let isBlocked = false
  const inFlight = new Set<Item>()
  /** Objects of which something is on its way or not recorded, and how much. */
  const busy = new Map<string, number>()
  /** Objects of which something is pending: all of which anything is open, and maybe others. */
  const failing = new Set<string>()
  /** Objects of which something was recorded since what is due was last asked for. */
  const recordedOf = new Set<string>()

  function takeNext(): Item | null {
    const item = nextItem()
    isBlocked = item === null && open.length > 0
    if (item === null) return null
    inFlight.add(item)
    markBusy(item.objectId)
    return item
  }

  /** By turns, so that what was put off for days does not hold up what happens, nor the other way round. */
  function nextItem(): Item | null {
    isTurnOfRetries = !isTurnOfRetries
    return isTurnOfRetries ? (nextRetry() ?? nextOpen()) : (nextOpen() ?? nextRetry())
  }

  function nextRetry(): Item | null {
    const place = retries.findIndex(({ objectId }) => !busy.has(objectId))
    return place === -1 ? null : (retries.splice(place, 1)[0] as Item)
  }

  function nextOpen(): Item | null {
    const isFull = open.length >= maxOpen
    const off = new Set<string>()
    let found: Item | null = null
    for (const item of open) {
      if (inFlight.has(item)) continue
      const { objectId } = item
      if (off.has(objectId) || (busy.has(objectId) ? isFull : failing.has(objectId))) off.add(objectId)
      else if (!busy.has(objectId)) {
        found = item
        break
      }
    }
    if (off.size > 0) deferObjects(off)
    return found
  }

  /** Has what is open of some objects wait until what came before it is over. */
  function deferObjects(objectIds: ReadonlySet<string>): void {
    const isDeferred = (item: Item) => objectIds.has(item.objectId) && !inFlight.has(item)
    const off = open.filter(isDeferred)
    for (const { objectId } of off) {
      markBusy(objectId)
      failing.add(objectId)
    }
    open = open.filter((item) => !isDeferred(item))
    onPutOff(off)
  }

  function markBusy(objectId: string): void {
    busy.set(objectId, (busy.get(objectId) ?? 0) + 1)
  }

  function unmarkBusy(objectId: string): void {
    const left = (busy.get(objectId) ?? 1) - 1
    if (left > 0) busy.set(objectId, left)
    else busy.delete(objectId)
  }

  function markRecorded(recorded: readonly QueueEntry[], pending: ReadonlySet<string>): void {
    for (const { objectId } of recorded) unmarkBusy(objectId)
    const objectIds = new Set(recorded.map(({ objectId }) => objectId))
    for (const objectId of objectIds) {
      recordedOf.add(objectId)
      if (pending.has(objectId)) failing.add(objectId)
      else if (!busy.has(objectId)) failing.delete(objectId)
    }
    // What is stored of these is not what was read.
    retries = retries.filter(({ objectId }) => !objectIds.has(objectId))
  }

  function addOpen(items: readonly Item[], pending: readonly string[]): void {
    open.push(...items)
    const known = new Set([...open.map(({ objectId }) => objectId), ...busy.keys()])
    for (const objectId of pending) failing.add(objectId)
    for (const objectId of failing) if (!known.has(objectId)) failing.delete(objectId)
  }

  return {
    takeNext,
    finish: (item) => {
      inFlight.delete(item)
      open = open.filter((each) => each !== item)
    },
    markRecorded,
    addOpen,
    startReadingRetries: () => recordedOf.clear(),
    isStale: (objectId) => busy.has(objectId) || recordedOf.has(objectId),
    addRetry: (item) => {
      failing.add(item.objectId)
      retries.push(item)
    },
    hasRetry: (sequence) => retries.some((item) => item.sequence === sequence),
    retryCount: () => retries.length,
    openCount: () => open.length,
    firstOpen: () => open[0],
    inFlightCount: () => inFlight.size,
    isBlocked: () => isBlocked,
  }
}
