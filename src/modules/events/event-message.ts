import type { EventMessage } from '../webhooks/transport/build-request.ts'
import type { HydratedEvent } from './event-payload.ts'
import { eventData } from './event-shape.ts'

/** An event as webhooks carry it. */
export function toEventMessage(told: HydratedEvent): EventMessage {
  const { id, type, timestamp, sequence, object, objectId, version, mode } = told
  return {
    id,
    type,
    timestamp,
    sequence,
    object: { type: object.type, id: objectId, version },
    mode,
    data: eventData.write(told),
  }
}
