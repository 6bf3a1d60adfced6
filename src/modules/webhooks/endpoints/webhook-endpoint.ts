import { z } from 'zod'
import { defineEnum } from '../../../core/api/enum-descriptions.ts'
import { lookupId, oneOf, optional, optionalFreeText, rejectField } from '../../../core/input.ts'
import type { RowOf } from '../../../database/tables.ts'
import { optionalEventTypes } from '../../outbox/event.ts'
import { webhookFormats } from '../transport/formats.ts'

export const webhookEndpointStatuses = defineEnum({
  enabled: 'Events are sent to the endpoint.',
  disabled: 'No events are sent. When the endpoint is enabled again, it may receive the missed events.',
})

export const disabledReasons = defineEnum({
  by_request: 'The merchant disabled the endpoint.',
  failing: 'Deliveries failed for days. The endpoint is probed once a day, and enabled when a probe succeeds.',
  gone: 'The endpoint responded with `410 Gone`.',
})

/** An endpoint's secrets and signing keys are stored encrypted. */
export type StoredWebhookEndpoint = RowOf<'webhookEndpoints'>

export type WebhookEndpoint = Omit<StoredWebhookEndpoint, 'secrets' | 'signingKeys'>

/** Only the response to the creation or rotation of a secret contains the secret. */
export type KeyedWebhookEndpoint = WebhookEndpoint & { readonly secret: string }

export function toPublicEndpoint({ secrets: _, signingKeys: __, ...endpoint }: StoredWebhookEndpoint): WebhookEndpoint {
  return endpoint
}

export const endpointFields = {
  // `findUrlFieldErrors` validates a URL that is not empty.
  url: z
    .string()
    .transform((url, context) => url.trim() || rejectField(context, 'MISSING_REQUIRED_FIELD', 'must not be empty')),
  types: optionalEventTypes(),
  format: optional(oneOf(webhookFormats)).transform((format) => format ?? 'standard'),
  description: optionalFreeText(),
}

export const WebhookEndpointIdInput = z.object({ webhookId: lookupId() })

/** The sequence 0 is the position before the first event. */
export const eventSequence = () => z.int().min(0)

export const endpointDescriptions = {
  endpoint: 'A URL of the merchant that events are sent to.',
  url: 'The URL that events are posted to.',
  urlInput:
    'The URL that events are posted to. In live mode it must be `https`; its address must be public unless the operator allows others.',
  types: 'The event types that the endpoint receives; an empty list means all.',
  typesInput: 'The event types that the endpoint receives; absent or empty for all.',
  format: 'The format and signature of the messages.',
  description: 'A description of the endpoint by the merchant.',
  descriptionInput: 'A description of the endpoint, of up to 255 characters.',
  asymmetric: 'Whether to sign with an ed25519 key as well (`v1a`), so that a verifier cannot create signatures.',
  status: 'Whether events are sent to the endpoint.',
  disabledReason: 'The reason for which it is disabled; null while it is enabled.',
  publicKey: 'The public key (`whpk_…`) that verifies `v1a` signatures, if the endpoint has them.',
  sentUpTo: 'The `sequence` up to which all events were sent or are scheduled for a retry.',
  failures: 'The number of consecutive failed attempts.',
  failingSince: 'When the consecutive failures began.',
  createdAt: 'When the endpoint was registered.',
  updatedAt: 'When the endpoint last changed.',
  secret: 'The secret of `v1` signatures: 32 bytes in base64 after `whsec_`. It is shown only once.',
  start: 'Where to start: `resume` (the default) continues after the last sent event, `now` with new events.',
  startAfter: 'Instead of `from`: start after this `sequence`.',
  overlapHours: 'The number of hours for which the old secret stays valid: 0 to 168, 24 by default.',
  replayEventId: 'The id of a single event to resend, of any type.',
  replayAfter: 'Resend all events after this `sequence`.',
  replaySince: 'Resend all events since this time; the replay may begin up to a minute earlier.',
  test: 'Sends an event of type `webhook.test` to this endpoint only, whatever its types. Its deliveries show the outcome.',
  enable:
    'Enables an endpoint, starting after its last sent event, from now on, or after a sequence. Scheduled retries run immediately.',
  replay: 'Resends one event to an endpoint, or all after a sequence or since a time, whatever their outcome was.',
  rotate:
    'Creates a new secret, which signs immediately. The old secret signs as well until the overlap ends. The same holds for `v1a` keys.',
} as const
