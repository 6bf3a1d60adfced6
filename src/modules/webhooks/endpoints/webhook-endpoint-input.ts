import { z } from 'zod'
import type { FieldError } from '../../../core/errors.ts'
import { hasValue, lookupId, oneOf, optional, optionalFreeText, rejectField } from '../../../core/input.ts'
import type { Service } from '../../../operations/context.ts'
import { optionalEventTypes } from '../../outbox/optional-event-types.ts'
import { createAllowlist } from '../transport/allowlist.ts'
import { findUrlError } from '../transport/check-url.ts'
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

/** What is wrong with the URL of an endpoint beyond its being text; nothing where it was not given. */
export function findUrlFieldErrors({ mode, webhookAllowed }: Service, url: unknown): FieldError[] {
  if (typeof url !== 'string' || !hasValue(url)) return []
  const message = findUrlError(url.trim(), { mode, allowlist: createAllowlist(webhookAllowed, mode) })
  return message === null ? [] : [{ field: 'url', code: 'INVALID_PARAMETER', message }]
}
