import { defineEnum } from '../../../core/api/enum-descriptions.ts'
import type { RowOf } from '../../../database/tables.ts'

export const webhookEndpointStatuses = defineEnum({
  enabled: 'Events are sent to it.',
  disabled: 'Nothing is sent to it; once it is enabled it may get what happened meanwhile.',
})

/** Why one is disabled. */
export const disabledReasons = defineEnum({
  by_request: 'Whoever owns it disabled it.',
  failing: 'Nothing could be delivered to it for days. It is tried once a day, and enabled when it answers.',
  gone: 'It answered `410 Gone`.',
})

/** An endpoint as it is stored, with what signs for it, encrypted. */
export type StoredWebhookEndpoint = RowOf<'webhookEndpoints'>

/** Where a merchant wants to be told of its events: all that is ever shown of it, and what its own events keep. */
export type WebhookEndpoint = Omit<StoredWebhookEndpoint, 'secrets' | 'signingKeys'>

/** The same where the secret is shown: when it is new, and never again. */
export type KeyedWebhookEndpoint = WebhookEndpoint & { readonly secret: string }

/** What may be shown of an endpoint. */
export function toPublicEndpoint({ secrets: _, signingKeys: __, ...endpoint }: StoredWebhookEndpoint): WebhookEndpoint {
  return endpoint
}
