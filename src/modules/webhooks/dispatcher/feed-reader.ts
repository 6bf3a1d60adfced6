import type { Context } from '../../../operations/context.ts'
import { loadMessages } from '../../events/webhook-messages.ts'
import type { Event } from '../../outbox/event.ts'
import { eventsAfter, eventsBySequence } from '../../outbox/repository.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import type { EventMessage } from '../transport/build-request.ts'
import type { WebhookFormat } from '../transport/formats.ts'
import { isEventTypeSupported } from '../transport/formats.ts'
import type { QueuedDelivery } from './attempt.ts'
import type { DeliveryQueue } from './queue.ts'
import { maxOpen } from './queue.ts'
import { deliveriesBySequence, pendingObjects } from './repository.ts'

/**
 * After a batch of which the endpoint receives less than an eighth, the next batch has the size `sparseFeedBatchSize`.
 */
const [feedBatchSize, sparseFeedBatchSize] = [64, 500]

/**
 * The maximum number of events between the cursor and the read position. If the process dies, these events are sent
 * again.
 */
const maxReadAhead = 1_000

type FeedBatch = {
  readonly events: readonly Event[]
  readonly toMessages: (events: readonly Event[], format: WebhookFormat) => Promise<readonly EventMessage[]>
}

/** `latest` is part of the cache key, so that a batch of events is not reused after newer events arrive. */
type FeedBatchRequest = { readonly after: number; readonly limit: number; readonly latest: number }

export type FeedCache = (request: FeedBatchRequest) => Promise<FeedBatch>

/**
 * Endpoint workers that poll at the same time from the same position share one read of the events and of their objects.
 */
export function createFeedCache(context: Context): FeedCache {
  const batches = new Map<string, Promise<FeedBatch>>()
  return ({ after, limit, latest }) => {
    const key = `${after} ${limit} ${latest}`
    const cached = batches.get(key)
    if (cached) return cached
    const batch = readBatch(context, after, limit)
    batches.set(key, batch)
    const evict = () => setImmediate(() => batches.delete(key))
    batch.then(evict, evict)
    return batch
  }
}

async function readBatch(context: Context, after: number, limit: number): Promise<FeedBatch> {
  const { db, merchantId } = context
  const events = await eventsAfter(db, { merchantId, after, limit })
  const cache = new Map<string, Promise<readonly EventMessage[]>>()
  const toMessages = (subset: readonly Event[], format: WebhookFormat) => {
    const key = `${format} ${subset.map(({ sequence }) => sequence).join()}`
    const messages = cache.get(key) ?? loadMessages(context, subset, format)
    cache.set(key, messages)
    return messages
  }
  return { events, toMessages }
}

export async function readMessages(
  context: Context,
  { format }: Pick<StoredWebhookEndpoint, 'format'>,
  deliveries: readonly { readonly sequence: number }[],
): Promise<ReadonlyMap<number, EventMessage>> {
  if (deliveries.length === 0) return new Map()
  const { db, merchantId } = context
  const sequences = deliveries.map(({ sequence }) => sequence)
  const messages = await loadMessages(context, await eventsBySequence(db, { merchantId, sequences }), format)
  return new Map(messages.map((message) => [message.sequence, message]))
}

export type FeedReader = {
  readonly isBehind: () => boolean
  readonly read: () => Promise<boolean>
  /** Every event up to the cursor was attempted, has a stored delivery, or is not sent to this endpoint. */
  readonly cursor: () => number
}

type FeedReaderOptions = {
  readonly context: Context
  readonly endpoint: StoredWebhookEndpoint
  readonly queue: DeliveryQueue<QueuedDelivery>
  readonly feed: FeedCache
  readonly latest: () => number
}

export function createFeedReader({ context, endpoint, queue, feed, latest }: FeedReaderOptions): FeedReader {
  const { db, merchantId } = context
  const key = { merchantId, endpointId: endpoint.id }
  let position = endpoint.cursor
  let isSparse = false

  function isBehind(): boolean {
    const hasRoom = queue.openCount() < (queue.isBlocked() ? maxOpen : feedBatchSize / 2)
    return hasRoom && position < latest() && position - cursor() < maxReadAhead
  }

  function cursor(): number {
    const first = queue.firstOpen()
    return first === undefined ? position : first.sequence - 1
  }

  async function read(): Promise<boolean> {
    const limit = isSparse ? sparseFeedBatchSize : feedBatchSize
    const { events, toMessages } = await feed({ after: position, limit, latest: latest() })
    const subscribed = events.filter((event) => isSubscribed(endpoint, event))
    const sequences = subscribed.map(({ sequence }) => sequence)
    const pending = sequences.length === 0 ? [] : await pendingObjects(db, { ...key, sequences })
    const stored = pending.length === 0 ? [] : await deliveriesBySequence(db, { ...key, sequences })
    const messages = await toMessages(subscribed, endpoint.format)
    const retried = new Set(stored.flatMap(({ sequence, status }) => (status === 'pending' ? [sequence] : [])))
    const items: QueuedDelivery[] = []
    for (const message of messages) {
      const { sequence } = message
      // Skips events with a pending delivery, because the worker reads these events as retries.
      if (retried.has(sequence)) continue
      items.push({ sequence, objectId: message.object.id, message, attemptsInSchedule: 0, storedAttempts: null })
    }
    queue.addOpen(
      items,
      pending.map(({ objectId }) => objectId),
    )
    position = events.at(-1)?.sequence ?? position
    isSparse = subscribed.length * 8 < events.length
    return events.length > 0 && position < latest()
  }

  return { isBehind, read, cursor }
}

function isSubscribed({ id, types, format }: StoredWebhookEndpoint, { type, objectId }: Event): boolean {
  if (type === 'webhook.test') return objectId === id
  return (types.length === 0 || types.includes(type)) && isEventTypeSupported(format, type)
}
