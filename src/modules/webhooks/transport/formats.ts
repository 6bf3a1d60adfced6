import { defineEnum } from '../../../core/api/enum-descriptions.ts'

/** How a message is written and signed. */
export const webhookFormats = defineEnum({
  standard: 'The event with the object as it was then, signed by Standard Webhooks 1.0.0.',
  thin: 'The same without the object, for receivers that read it anew.',
  stablestack: 'What receivers of the original provider parse and verify: their types of events and no others.',
})
export type WebhookFormat = (typeof webhookFormats)[number]

/**
 * The provider's receivers choose by `event_type` among the names that the provider has, and what they do with any other is
 * theirs to decide; so a type that it lacks (`payout.returned` is one) is not sent, and whoever must hear of it takes
 * `standard` or reads the feed. `webhook.test` alone goes out beside them: it is sent when its owner asks, to see whether
 * the receiver verifies what it gets (ruling 61).
 */
const providerEventTypes: readonly string[] = [
  'payout.initiated',
  'payout.completed',
  'payout.failed',
  'wallet.transaction.inbound',
  'wallet.transaction.outbound',
  'webhook.test',
]

/** The types of events that a format has; `null` for one that has them all. */
export function supportedEventTypes(format: WebhookFormat): readonly string[] | null {
  return format === 'stablestack' ? providerEventTypes : null
}

/** Whether an event of this type is sent to endpoints of this format. */
export function isEventTypeSupported(format: WebhookFormat, type: string): boolean {
  return supportedEventTypes(format)?.includes(type) ?? true
}
