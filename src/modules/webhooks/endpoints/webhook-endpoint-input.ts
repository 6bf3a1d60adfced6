import { z } from 'zod'
import type { FieldError } from '../../../core/errors.ts'
import { hasValue, lookupId, oneOf, optional, optionalFreeText, rejectField } from '../../../core/input.ts'
import type { Service } from '../../../operations/context.ts'
import { optionalEventTypes } from '../../outbox/event.ts'
import { createAllowlist, findUrlError } from '../transport/destination-policy.ts'
import { webhookFormats } from '../transport/formats.ts'

export const endpointFields = {
  // `findUrlFieldErrors` validates the URL itself, including its length.
  url: z
    .string()
    .transform((url, context) => url.trim() || rejectField(context, 'MISSING_REQUIRED_FIELD', 'must not be empty')),
  types: optionalEventTypes(),
  format: optional(oneOf(webhookFormats)).transform((format) => format ?? 'standard'),
  description: optionalFreeText(),
}

export const WebhookEndpointIdInput = z.object({ webhookId: lookupId() })

/** The sequence of an event, or 0 for the position before the first event. */
export const eventSequence = () => z.int().min(0)

/** Validates the URL of an endpoint, if present. */
export function findUrlFieldErrors({ mode, webhookAllowed }: Service, url: unknown): FieldError[] {
  if (typeof url !== 'string' || !hasValue(url)) return []
  const message = findUrlError(url.trim(), { mode, allowlist: createAllowlist(webhookAllowed, mode) })
  return message === null ? [] : [{ field: 'url', code: 'INVALID_PARAMETER', message }]
}
