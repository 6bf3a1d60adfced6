import type { RowOf } from '../database/tables.ts'
import { describedValues } from '../doors/described-values.ts'
import type { EventType } from '../events/event.ts'

export const deliveryStatuses = describedValues({
  pending: 'It was tried and will be again.',
  delivered: 'The endpoint took it.',
  exhausted: 'It was tried as often as anything is, or let go of, and is not tried again.',
})

/** One time that an event was sent: how long it took, and the answer or what went wrong. */
export type WebhookAttempt = RowOf<'webhookAttempts'>

/** What became of an event that was sent to an endpoint, with each attempt, the first of them first. */
export type WebhookDelivery = RowOf<'webhookDeliveries'> & {
  readonly eventType: EventType
  readonly eventTime: bigint
  /** Those that are still kept. */
  readonly log: readonly WebhookAttempt[]
}
