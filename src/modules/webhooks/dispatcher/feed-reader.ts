import type { Context } from '../../../operations/context.ts'
import type { Event } from '../../outbox/event.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import { isEventTypeSupported } from '../transport/formats.ts'
import type { QueuedDelivery } from './attempt.ts'
import type { FeedCache } from './feed-cache.ts'
import type { DeliveryQueue } from './queue.ts'
import { maxOpen } from './queue.ts'
import { deliveriesBySequence, pendingObjects } from './repository.ts'

/** Events that are looked at together, also where hardly any is for the endpoint. */
const [feedBatchSize, sparseFeedBatchSize] = [64, 500]

/** How far it is read beyond the first event that is not over: what lies between is sent again if the process dies. */
const maxReadAhead = 1_000

/** Reads on in the feed for one endpoint. */
export type FeedReader = {
  /** Whether there is more to read, and room for it. */
  readonly isBehind: () => boolean
  /** Reads what comes next; whether there is more after that. */
  readonly read: () => Promise<boolean>
  /** All up to this number are over. */
  readonly cursor: () => number
}

type FeedReaderOptions = {
  readonly context: Context
  readonly endpoint: StoredWebhookEndpoint
  readonly queue: DeliveryQueue<QueuedDelivery>
  readonly feed: FeedCache
  readonly latest: () => number
  readonly isStopped: () => boolean
}

export function createFeedReader({ context, endpoint, queue, feed, latest, isStopped }: FeedReaderOptions): FeedReader {
  const { db, merchantId } = context
  const whose = { merchantId, endpointId: endpoint.id }
  /** Up to where the feed was read. */
  let position = endpoint.cursor
  let isSparse = false

  function isBehind(): boolean {
    const isRoom = queue.openCount() < (queue.isBlocked() ? maxOpen : feedBatchSize / 2)
    return isRoom && position < latest() && position - passedTo() < maxReadAhead
  }

  function passedTo(): number {
    const first = queue.firstOpen()
    return first === undefined ? position : first.sequence - 1
  }

  async function read(): Promise<boolean> {
    const limit = isSparse ? sparseFeedBatchSize : feedBatchSize
    const { events, messages } = await feed({ after: position, limit, latest: latest() })
    const own = events.filter((event) => isSubscribed(endpoint, event))
    const sequences = own.map(({ sequence }) => sequence)
    const pending = sequences.length === 0 ? [] : await pendingObjects(db, { ...whose, sequences })
    const stored = pending.length === 0 ? [] : await deliveriesBySequence(db, { ...whose, sequences })
    const written = await messages(own)
    if (isStopped()) return false
    const isPending = new Set(stored.flatMap(({ sequence, status }) => (status === 'pending' ? [sequence] : [])))
    const items: QueuedDelivery[] = []
    for (const message of written) {
      const { sequence } = message
      // What is pending already goes its own way.
      if (isPending.has(sequence)) continue
      items.push({ sequence, objectId: message.object.id, message, tries: 0, known: null })
    }
    queue.addOpen(
      items,
      pending.map(({ objectId }) => objectId),
    )
    position = events.at(-1)?.sequence ?? position
    isSparse = own.length * 8 < events.length
    return events.length > 0 && position < latest()
  }

  return { isBehind, read, cursor: passedTo }
}

/** Whether an endpoint gets an event: of its types and its format's, and of tests its own. */
function isSubscribed({ id, types, format }: StoredWebhookEndpoint, { type, objectId }: Event): boolean {
  if (type === 'webhook.test') return objectId === id
  return (types.length === 0 || types.includes(type)) && isEventTypeSupported(format, type)
}
