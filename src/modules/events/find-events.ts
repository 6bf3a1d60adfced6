import type { Context } from '../../operations/context.ts'
import { eventId, sequenceOfEventId } from '../outbox/event.ts'
import { eventsNumbered } from '../outbox/repository.ts'
import type { Told } from './event-payload.ts'
import { toldEvents } from './event-payload.ts'

/** The merchant's events among `ids`, in any order: an id says the number, and all of it must be right. */
export async function findEvents(context: Context, ids: readonly string[]): Promise<Told[]> {
  const { db, merchantId } = context
  const sequences = ids.flatMap((id) => sequenceOfEventId(id) ?? [])
  const asked = new Set(ids)
  const events = await eventsNumbered(db, { merchantId, sequences })
  return toldEvents(
    context,
    events.filter((event) => asked.has(eventId(event))),
  )
}
