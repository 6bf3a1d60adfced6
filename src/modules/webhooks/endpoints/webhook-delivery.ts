import { defineEnum } from '../../../core/api/enum-descriptions.ts'
import type { EventType, RowOf } from '../../../database/tables.ts'

export const deliveryStatuses = defineEnum({
  pending: 'It waits for its next attempt, or for an earlier event of the same object.',
  delivered: 'The endpoint accepted it with a 2xx status.',
  exhausted: 'All attempts failed, or it was dropped; it is not attempted again.',
})

/** The latest attempts that the APIs list of a delivery, which has ten, and ten more after each replay. */
export const maxListedAttempts = 20

export type WebhookAttempt = RowOf<'webhookAttempts'>

/** An event on its way to one endpoint, with its latest attempts, oldest first. */
export type WebhookDelivery = RowOf<'webhookDeliveries'> & {
  readonly eventType: EventType
  readonly eventTime: bigint
  /** At most `maxListedAttempts`. */
  readonly log: readonly WebhookAttempt[]
}
