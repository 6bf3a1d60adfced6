import { defineEnum } from '../../../core/api/enum-descriptions.ts'

export const webhookFormats = defineEnum({
  standard: 'The event with its object as of that time, signed by Standard Webhooks 1.0.0.',
  thin: 'The same without the object, for receivers that fetch its current state.',
  stablestack: 'The body and signature of the original provider, with its event types only.',
})
export type WebhookFormat = (typeof webhookFormats)[number]

/**
 * In the format `stablestack`, the service sends only event types of the original provider, because receivers may fail
 * on unknown event types. The original provider has no `webhook.test` (ruling 61).
 */
const providerEventTypes: readonly string[] = [
  'payout.initiated',
  'payout.completed',
  'payout.failed',
  'wallet.transaction.inbound',
  'wallet.transaction.outbound',
  'webhook.test',
]

/** Endpoints that subscribe to `payout.failed` receive `payout.cancelled` (ruling 139). */
export const cancelledPayoutType = 'payout.cancelled'

/** `null` means all event types. */
export function supportedEventTypes(format: WebhookFormat): readonly string[] | null {
  return format === 'stablestack' ? providerEventTypes : null
}

export function isEventTypeSupported(format: WebhookFormat, type: string): boolean {
  return supportedEventTypes(format)?.includes(type) ?? true
}
