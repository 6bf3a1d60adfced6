import type { Context } from '../../operations/context.ts'
import { eventId, sequenceOfEventId } from '../outbox/event.ts'
import { eventsBySequence } from '../outbox/repository.ts'
import type { HydratedEvent } from './event-payload.ts'
import { hydrateEvents } from './event-payload.ts'

/** The merchant's events among `ids`, in any order: an id says the number, and all of it must be right. */
export async function findEvents(context: Context, ids: readonly string[]): Promise<HydratedEvent[]> {
  const { db, merchantId } = context
  const sequences = ids.flatMap((id) => sequenceOfEventId(id) ?? [])
  const asked = new Set(ids)
  const events = await eventsBySequence(db, { merchantId, sequences })
  return hydrateEvents(
    context,
    events.filter((event) => asked.has(eventId(event))),
  )
}
