import { defineEnum } from '../../../core/api/enum-descriptions.ts'
import type { RowOf } from '../../../database/tables.ts'

export const webhookEndpointStatuses = defineEnum({
  enabled: 'Events are sent to it.',
  disabled: 'No events are sent to it. Once it is enabled, it can get the events of the meantime.',
})

export const disabledReasons = defineEnum({
  by_request: 'The merchant disabled it.',
  failing: 'Every delivery failed for days. It gets one attempt a day, and is enabled when that succeeds.',
  gone: 'It answered `410 Gone`.',
})

/** An endpoint with its encrypted secrets and keys. */
export type StoredWebhookEndpoint = RowOf<'webhookEndpoints'>

/** A destination of a merchant's events, as the APIs and its own events show it. */
export type WebhookEndpoint = Omit<StoredWebhookEndpoint, 'secrets' | 'signingKeys'>

/** An endpoint with its new secret, which only the operation that generated it returns. */
export type KeyedWebhookEndpoint = WebhookEndpoint & { readonly secret: string }

export function toPublicEndpoint({ secrets: _, signingKeys: __, ...endpoint }: StoredWebhookEndpoint): WebhookEndpoint {
  return endpoint
}
