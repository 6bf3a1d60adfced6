import { integer, oneOf, plainText, someOf, text, timestamp, uuid } from '../../../rest/json-types.ts'
import type { ShapeMembers } from '../../../rest/shape.ts'
import { member, nullable, nullInExample, resource } from '../../../rest/shape.ts'
import { eventTypes } from '../../outbox/event.ts'
import { webhookFormats } from '../transport/formats.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'
import { disabledReasons, webhookEndpointStatuses } from './webhook-endpoint.ts'

/** What is shown of an endpoint. */
export const endpointMembers: ShapeMembers<WebhookEndpoint> = {
  id: member(({ id }) => id, uuid('The id of the endpoint.', '01980c62-3b4c-7d5e-8f60-718293a4b5c6')),
  url: member(({ url }) => url, text('Where events are posted to.', 'https://example.com/webhooks')),
  types: member(
    ({ types }) => types,
    someOf('The types of events that it gets; an empty list means all.', eventTypes, ['payout.completed']),
  ),
  format: member(({ format }) => format, oneOf('How they are written and signed.', webhookFormats)),
  description: nullable(({ description }) => description, text('What its owner says of it.', 'Our bookkeeping')),
  status: member(({ status }) => status, oneOf('Whether anything is sent to it.', webhookEndpointStatuses)),
  disabled_reason: nullInExample(
    ({ disabledReason }) => disabledReason,
    oneOf('Why it is disabled; null while it is enabled.', disabledReasons),
  ),
  public_key: nullInExample(
    ({ publicKey }) => publicKey,
    plainText(
      'What verifies `v1a` signatures, where they were asked for.',
      'whpk_2NG9UIrLsgsY16YFOR4Zx4nTNVzLFlEhe5a0sAV1O2o=',
    ),
  ),
  sent_up_to: member(
    ({ cursor }) => cursor,
    integer('The `sequence` up to which every event was sent, or is about to be tried again.', 1234),
  ),
  failures: member(({ failures }) => failures, integer('How often sending failed since it last succeeded.', 0)),
  failing_since: nullInExample(({ failingSince }) => failingSince, timestamp('Since when it has failed.')),
  created_at: member(({ createdAt }) => createdAt, timestamp('When it was registered.')),
  updated_at: member(({ updatedAt }) => updatedAt, timestamp('When it was last changed.')),
}

/** The wire shape of an endpoint. */
export const webhookEndpointResource = resource<WebhookEndpoint>(
  'WebhookEndpoint',
  'Where a merchant wants to be told of its events.',
  endpointMembers,
)
