import type { EventMessage } from '../delivery/message.ts'
import { data } from './event-shape.ts'
import type { Told } from './told.ts'

/** An event as webhooks carry it. */
export function eventMessage(told: Told): EventMessage {
  const { id, type, timestamp, sequence, object, objectId, version, mode } = told
  return {
    id,
    type,
    timestamp,
    sequence,
    object: { type: object.type, id: objectId, version },
    mode,
    data: data.write(told),
  }
}
