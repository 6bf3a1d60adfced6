import type { Context } from '../../../operations/context.ts'
import { hydrateEvents } from '../../events/event-payload.ts'
import { toEventMessage } from '../../events/event-shape.ts'
import type { Event } from '../../outbox/event.ts'
import { eventsAfter } from '../../outbox/repository.ts'
import type { EventMessage } from '../transport/message.ts'

/** Some events of a merchant in their order, and how those of them go out that an endpoint gets. */
type FeedBatch = {
  readonly events: readonly Event[]
  readonly messages: (own: readonly Event[]) => Promise<readonly EventMessage[]>
}

/** What to read: `latest` is the number that the events are known to have come to. */
type FeedBatchRequest = { readonly after: number; readonly limit: number; readonly latest: number }

/** Reads on in the feed of one merchant. */
export type FeedCache = (from: FeedBatchRequest) => Promise<FeedBatch>

/**
 * Reads the feed of a merchant for all of its endpoints: those that are at the same place look at the same moment, and what one
 * of them has read, and written out, is every other's. Nothing is kept beyond that moment.
 */
export function createFeedCache(context: Context): FeedCache {
  const batches = new Map<string, Promise<FeedBatch>>()
  return ({ after, limit, latest }) => {
    const key = `${after} ${limit} ${latest}`
    const known = batches.get(key)
    if (known) return known
    const batch = readBatch(context, { after, limit })
    batches.set(key, batch)
    const evict = () => setImmediate(() => batches.delete(key))
    batch.then(evict, evict)
    return batch
  }
}

async function readBatch(context: Context, { after, limit }: Omit<FeedBatchRequest, 'latest'>): Promise<FeedBatch> {
  const { db, merchantId } = context
  const events = await eventsAfter(db, { merchantId, after, limit })
  const written = new Map<string, Promise<readonly EventMessage[]>>()
  const messages = (own: readonly Event[]) => {
    const key = own.map(({ sequence }) => sequence).join()
    const found = written.get(key) ?? hydrateEvents(context, own).then((told) => told.map(toEventMessage))
    written.set(key, found)
    return found
  }
  return { events, messages }
}
