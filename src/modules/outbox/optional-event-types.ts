import { z } from 'zod'
import { optional, rejectField } from '../../core/input.ts'
import { eventTypes } from './event.ts'

/** Types of events, each once and in their own order; none for all. */
export const optionalEventTypes = () =>
  optional(z.array(z.string())).transform((given, context) => {
    const isKnown = (type: string) => (eventTypes as readonly string[]).includes(type)
    if (given?.every(isKnown) !== false) return eventTypes.filter((type) => given?.includes(type))
    return rejectField(context, 'INVALID_PARAMETER', `must be some of ${eventTypes.join(', ')}`)
  })
