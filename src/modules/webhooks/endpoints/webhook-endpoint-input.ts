import { z } from 'zod'
import { lookupId, oneOf, optional, optionalFreeText, rejectField } from '../../../core/input.ts'
import { optionalEventTypes } from '../../outbox/event.ts'
import { webhookFormats } from '../transport/formats.ts'

/** What may be said of an endpoint at any time. */
export const endpointFields = {
  // Its own check says what else is wrong, and how long it may be.
  url: z
    .string()
    .transform((url, context) => url.trim() || rejectField(context, 'MISSING_REQUIRED_FIELD', 'must not be empty')),
  types: optionalEventTypes(),
  format: optional(oneOf(webhookFormats)).transform((format) => format ?? 'standard'),
  description: optionalFreeText(),
}

/** What names one that is there. */
export const WebhookEndpointIdInput = z.object({ webhookId: lookupId() })

/** The number of an event, or 0 for before the first. */
export const eventSequence = () => z.int().min(0)
