import { z } from 'zod'
import { lookupId, oneOf, optional, optionalFreeText, rejectField } from '../../../core/input.ts'
import { optionalEventTypes } from '../../outbox/optional-event-types.ts'
import { webhookFormats } from '../transport/formats.ts'

export const endpointFields = {
  // `findUrlFieldErrors` validates the rest.
  url: z
    .string()
    .transform((url, context) => url.trim() || rejectField(context, 'MISSING_REQUIRED_FIELD', 'must not be empty')),
  types: optionalEventTypes(),
  format: optional(oneOf(webhookFormats)).transform((format) => format ?? 'standard'),
  description: optionalFreeText(),
}

export const WebhookEndpointIdInput = z.object({ webhookId: lookupId() })

/** The `sequence` of an event; 0 is before the first. */
export const eventSequence = () => z.int().min(0)
