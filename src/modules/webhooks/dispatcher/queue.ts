/** If the queue holds 256 open events, events that must wait for an earlier event of their object leave the queue. */
export const maxOpen = 256

export type QueueEntry = { readonly sequence: number; readonly objectId: string }

/**
 * The queue holds open events (read from the feed, not yet attempted) and due retries. The next attempt for an object
 * starts after the object's previous attempt is recorded. Later events of an object wait while an earlier event of the
 * object is pending. Events of one object never wait for events of another object.
 */
export type DeliveryQueue<Item extends QueueEntry> = {
  /** The returned delivery counts as in flight. Returns `null` if no delivery can start. */
  readonly takeNext: () => Item | null
  readonly finish: (item: Item) => void
  /**
   * `recorded` has the attempts and waiting events that a flush recorded; `pending` has those of their objects that
   * have a pending delivery. Drops the queued retries of the recorded objects, because they must be read again.
   */
  readonly markRecorded: (recorded: readonly QueueEntry[], pending: ReadonlySet<string>) => void
  /** `pending` must list all objects of `items` that have a pending delivery, and may list more objects. */
  readonly addOpen: (items: readonly Item[], pending: readonly string[]) => void
  /**
   * `startReadingRetries` must be called before each read of due deliveries, because a flush during the read makes its
   * result stale.
   */
  readonly startReadingRetries: () => void
  readonly isStale: (objectId: string) => boolean
  /** The retry `item` must be the first pending delivery of its object, and the object must not be stale. */
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
   * Events that are neither attempted nor deferred, in order of sequence. The list of open events includes events in
   * flight.
   */
  let open: Item[] = []
  let retries: Item[] = []
  let isRetryTurn = false
  let isBlocked = false
  const inFlight = new Set<Item>()
  /** Counts the unrecorded attempts and deferrals of each object. */
  const busy = new Map<string, number>()
  /** Objects with a pending delivery. Of the objects of open events, none is missing. */
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
