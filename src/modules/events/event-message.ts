import type { EventMessage } from '../webhooks/transport/message.ts'
import type { Told } from './event-payload.ts'
import { data } from './event-shape.ts'

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
