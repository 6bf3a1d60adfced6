/**
 * If the queue has `maxOpen` open events, the queue defers events that wait for an earlier event of the same object.
 */
export const maxOpen = 256

export type QueueEntry = { readonly sequence: number; readonly objectId: string }

/**
 * The queue holds open events (read from the feed, not yet attempted) and due retries. The deliveries of an object run
 * one after the other, in the order of the object's events. Events of one object never wait for events of another
 * object.
 */
export type DeliveryQueue<Item extends QueueEntry> = {
  /** Returns `null` if no delivery can start. The returned delivery is in flight until `finish`. */
  readonly takeNext: () => Item | null
  readonly finish: (item: Item) => void
  /**
   * Must be called after each flush. `recorded` are the flushed events, and `pending` are the objects with a pending
   * delivery. Drops queued retries of the recorded objects, because these retries must be read again.
   */
  readonly markRecorded: (recorded: readonly QueueEntry[], pending: ReadonlySet<string>) => void
  /** `pending` must contain every object of `items` that has a pending delivery. */
  readonly addOpen: (items: readonly Item[], pending: readonly string[]) => void
  /** Must be called before each read of due deliveries. A flush during the read makes the flushed objects stale. */
  readonly startReadingRetries: () => void
  readonly isStale: (objectId: string) => boolean
  /** `item` must be the first pending delivery of its object. The object must not be stale. */
  readonly addRetry: (item: Item) => void
  readonly hasRetry: (sequence: number) => boolean
  readonly retryCount: () => number
  readonly openCount: () => number
  readonly firstOpen: () => Item | undefined
  readonly inFlightCount: () => number
  readonly isBlocked: () => boolean
}

/** @param onDeferred called with events that left the queue because they wait for an earlier event of their object */
export function createDeliveryQueue<Item extends QueueEntry>(
  onDeferred: (items: readonly Item[]) => void,
): DeliveryQueue<Item> {
  /**
   * Events that were neither attempted nor deferred, in the order of their sequences. Events in flight are included.
   */
  let open: Item[] = []
  let retries: Item[] = []
  let isRetryTurn = false
  let isBlocked = false
  const inFlight = new Set<Item>()
  /** Counts the unrecorded attempts and deferrals of each object. */
  const busy = new Map<string, number>()
  /** Objects with a pending delivery. The set may lack objects that have no open event. */
  const failing = new Set<string>()
  const changed = new Set<string>()

  function takeNext(): Item | null {
    const item = nextItem()
    isBlocked = item === null && open.length > 0
    if (item === null) return null
    inFlight.add(item)
    markBusy(item.objectId)
    return item
  }

  /** Alternates between retries and new events, so that neither kind starves. */
  function nextItem(): Item | null {
    isRetryTurn = !isRetryTurn
    return isRetryTurn ? (nextRetry() ?? nextOpen()) : (nextOpen() ?? nextRetry())
  }

  function nextRetry(): Item | null {
    const index = retries.findIndex(({ objectId }) => !busy.has(objectId))
    return index === -1 ? null : (retries.splice(index, 1)[0] as Item)
  }

  function nextOpen(): Item | null {
    const isFull = open.length >= maxOpen
    const deferred = new Set<string>()
    let next: Item | null = null
    for (const item of open) {
      if (inFlight.has(item)) continue
      const { objectId } = item
      if (deferred.has(objectId) || (busy.has(objectId) ? isFull : failing.has(objectId))) deferred.add(objectId)
      else if (!busy.has(objectId)) {
        next = item
        break
      }
    }
    if (deferred.size > 0) deferObjects(deferred)
    return next
  }

  function deferObjects(objectIds: ReadonlySet<string>): void {
    const isDeferred = (item: Item) => objectIds.has(item.objectId) && !inFlight.has(item)
    const deferred = open.filter(isDeferred)
    for (const { objectId } of deferred) markBusy(objectId)
    open = open.filter((item) => !isDeferred(item))
    onDeferred(deferred)
  }

  function markBusy(objectId: string): void {
    busy.set(objectId, (busy.get(objectId) ?? 0) + 1)
  }

  function unmarkBusy(objectId: string): void {
    const count = (busy.get(objectId) ?? 1) - 1
    if (count > 0) busy.set(objectId, count)
    else busy.delete(objectId)
  }

  function markRecorded(recorded: readonly QueueEntry[], pending: ReadonlySet<string>): void {
    for (const { objectId } of recorded) unmarkBusy(objectId)
    const objectIds = new Set(recorded.map(({ objectId }) => objectId))
    for (const objectId of objectIds) {
      changed.add(objectId)
      if (pending.has(objectId)) failing.add(objectId)
      else failing.delete(objectId)
    }
    retries = retries.filter(({ objectId }) => !objectIds.has(objectId))
  }

  function addOpen(items: readonly Item[], pending: readonly string[]): void {
    open.push(...items)
    const present = new Set([...open.map(({ objectId }) => objectId), ...busy.keys()])
    for (const objectId of pending) failing.add(objectId)
    for (const objectId of failing) if (!present.has(objectId)) failing.delete(objectId)
  }

  return {
    takeNext,
    finish: (item) => {
      inFlight.delete(item)
      open = open.filter((other) => other !== item)
    },
    markRecorded,
    addOpen,
    startReadingRetries: () => changed.clear(),
    isStale: (objectId) => busy.has(objectId) || changed.has(objectId),
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
