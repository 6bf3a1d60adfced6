import { describedValues } from '../../../core/api/enum-descriptions.ts'

/** How a message is written and signed. */
export const webhookFormats = describedValues({
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
const typesOfProvider: readonly string[] = [
  'payout.initiated',
  'payout.completed',
  'payout.failed',
  'wallet.transaction.inbound',
  'wallet.transaction.outbound',
  'webhook.test',
]

/** The types of events that a format has; `null` for one that has them all. */
export function sentTypes(format: WebhookFormat): readonly string[] | null {
  return format === 'stablestack' ? typesOfProvider : null
}

/** Whether an event of this type is sent to endpoints of this format. */
export function isSent(format: WebhookFormat, type: string): boolean {
  return sentTypes(format)?.includes(type) ?? true
}
