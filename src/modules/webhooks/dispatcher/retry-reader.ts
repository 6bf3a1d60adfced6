import { dueTimeAfter } from '../../../core/ids-and-clock.ts'
import type { Context } from '../../../operations/context.ts'
import { hydrateEvents } from '../../events/event-payload.ts'
import { toEventMessage } from '../../events/event-shape.ts'
import { eventsBySequence } from '../../outbox/repository.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import type { EventMessage } from '../transport/message.ts'
import type { QueuedDelivery } from './attempt.ts'
import type { DeliveryQueue } from './queue.ts'
import type { AttemptReport } from './record-attempts.ts'
import { dueDeliveries, nextDueTime } from './repository.ts'

/** Deliveries that are taken up again together. */
const retryBatchSize = 16

/** Later than anything is due. */
const farFutureMs = 2 ** 52

/** Takes up again what is due of one endpoint. */
export type RetryReader = {
  /** Whether there is something to take up again, and room for it; a probe takes what is next, whenever that is due. */
  readonly isDue: () => boolean
  readonly read: () => Promise<void>
  /** Notes what was recorded, and of which objects of that something is pending. */
  readonly markRecorded: (attempted: AttemptReport['attempted'], pending: ReadonlySet<string>) => void
  /** Has it looked anew when the next is due, if there is one. */
  readonly resetDueTime: () => void
}

type RetryReaderOptions = {
  readonly context: Context
  readonly endpoint: StoredWebhookEndpoint
  readonly queue: DeliveryQueue<QueuedDelivery>
  /** Whether the endpoint is to be tried, whenever something is due. */
  readonly canProbe: () => boolean
  readonly isStopped: () => boolean
}

export function createRetryReader({
  context,
  endpoint,
  queue,
  canProbe: isToProbe,
  isStopped,
}: RetryReaderOptions): RetryReader {
  const { db, wallClock, merchantId } = context
  const whose = { merchantId, endpointId: endpoint.id }
  const isProbe = endpoint.status === 'disabled'
  /** When the next is to be tried again, by the machine's clock: at first that is not known. */
  let dueAt = Number.NEGATIVE_INFINITY

  function isDue(): boolean {
    const isTime = dueAt <= wallClock() || (isToProbe() && dueAt !== Number.POSITIVE_INFINITY)
    return isTime && queue.retryCount() < retryBatchSize
  }

  /** Reads what is due. What is recorded meanwhile may be due before all that was found. */
  async function read(): Promise<void> {
    dueAt = Number.POSITIVE_INFINITY
    let nextAt = Number.NEGATIVE_INFINITY
    try {
      nextAt = await takeDue()
    } finally {
      dueAt = Math.min(dueAt, nextAt)
    }
  }

  /** Has what is due taken up again; when the next is. */
  async function takeDue(): Promise<number> {
    const now = dueTimeAfter(0, wallClock())
    const [by, limit] = [isProbe ? dueTimeAfter(farFutureMs, wallClock()) : now, retryBatchSize * 2]
    queue.startReadingRetries()
    const due = await dueDeliveries(db, { ...whose, now: by, limit })
    const next = await nextDueTime(db, { ...whose, after: by })
    const unread = due.filter(({ sequence }) => !queue.hasRetry(sequence))
    const fresh = unread.slice(0, retryBatchSize)
    const messages = await readMessages(
      context,
      fresh.map(({ sequence }) => sequence),
    )
    if (isStopped()) return Number.POSITIVE_INFINITY
    let isMore = due.length === limit || unread.length > fresh.length
    for (const { sequence, objectId, attempts, attemptsBefore } of fresh) {
      const message = messages.get(sequence)
      if (queue.isStale(objectId)) isMore = true
      else if (message !== undefined) {
        queue.addRetry({ sequence, objectId, message, tries: attempts - attemptsBefore, known: attempts })
      }
    }
    return isMore ? Number(now) : next?.nextAttemptAt == null ? Number.POSITIVE_INFINITY : Number(next.nextAttemptAt)
  }

  function noteRecorded(attempted: AttemptReport['attempted'], pending: ReadonlySet<string>): void {
    const failed = new Set<string>()
    for (const { objectId, nextAttemptAt: next } of attempted) {
      if (next === null) continue
      failed.add(objectId)
      dueAt = Math.min(dueAt, Number(next))
    }
    // A delivery that was blocked by another may be due now, and the queue has dropped the due ones that it had.
    if ([...pending].some((objectId) => !failed.has(objectId))) dueAt = Number.NEGATIVE_INFINITY
  }

  return {
    isDue,
    read,
    markRecorded: noteRecorded,
    resetDueTime: () => {
      if (dueAt !== Number.POSITIVE_INFINITY) dueAt = Number.NEGATIVE_INFINITY
    },
  }
}

async function readMessages(context: Context, sequences: readonly number[]): Promise<Map<number, EventMessage>> {
  if (sequences.length === 0) return new Map()
  const { db, merchantId } = context
  const told = await hydrateEvents(context, await eventsBySequence(db, { merchantId, sequences }))
  return new Map(told.map((each) => [each.sequence, toEventMessage(each)]))
}
