import type { Context } from '../context.ts'
import { eventId, sequenceOfEventId } from '../events/event.ts'
import { eventsNumbered } from '../events/repository.ts'
import type { Told } from './told.ts'
import { toldEvents } from './told.ts'

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
