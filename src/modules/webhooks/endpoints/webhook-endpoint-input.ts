import { z } from 'zod'
import { lookupId, oneOf, optional, optionalFreeText, refuse } from '../../../core/input.ts'
import { someEventTypes } from '../../outbox/some-event-types.ts'
import { webhookFormats } from '../transport/formats.ts'

/** What may be said of an endpoint at any time. */
export const endpointFields = {
  // Its own check says what else is wrong, and how long it may be.
  url: z
    .string()
    .transform((url, context) => url.trim() || refuse(context, 'MISSING_REQUIRED_FIELD', 'must not be empty')),
  types: someEventTypes(),
  format: optional(oneOf(webhookFormats)).transform((format) => format ?? 'standard'),
  description: optionalFreeText(),
}

/** What names one that is there. */
export const WebhookEndpointNamed = z.object({ webhookId: lookupId() })

/** The number of an event, or 0 for before the first. */
export const eventNumber = () => z.int().min(0)
