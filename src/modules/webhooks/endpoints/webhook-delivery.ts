import { defineEnum } from '../../../core/api/enum-descriptions.ts'
import type { EventType, RowOf } from '../../../database/tables.ts'

export const deliveryStatuses = defineEnum({
  pending: 'It was tried and will be again.',
  delivered: 'The endpoint took it.',
  exhausted: 'It was tried as often as anything is, or let go of, and is not tried again.',
})

/** Attempts that are told of one delivery, the latest: it has ten, and as many again whenever its owner asks for it. */
export const maxListedAttempts = 20

/** One time that an event was sent: how long it took, and the answer or what went wrong. */
export type WebhookAttempt = RowOf<'webhookAttempts'>

/** What became of an event that was sent to an endpoint, with its latest attempts, the first of them first. */
export type WebhookDelivery = RowOf<'webhookDeliveries'> & {
  readonly eventType: EventType
  readonly eventTime: bigint
  /** At most `mostAttempts`. */
  readonly log: readonly WebhookAttempt[]
}
