import { integer, oneOf, plainText, someOf, text, timestamp, uuid } from '../../../rest/json-types.ts'
import type { ShapeMembers } from '../../../rest/shape.ts'
import { member, nullable, nullInExample, resource } from '../../../rest/shape.ts'
import { eventTypes } from '../../outbox/event.ts'
import { webhookFormats } from '../transport/formats.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'
import { disabledReasons, webhookEndpointStatuses } from './webhook-endpoint.ts'

export const endpointMembers: ShapeMembers<WebhookEndpoint> = {
  id: member(({ id }) => id, uuid('The id of the endpoint.', '01980c62-3b4c-7d5e-8f60-718293a4b5c6')),
  url: member(({ url }) => url, text('The URL that events are posted to.', 'https://example.com/webhooks')),
  types: member(
    ({ types }) => types,
    someOf('The event types that it receives; an empty list means all.', eventTypes, ['payout.completed']),
  ),
  format: member(({ format }) => format, oneOf('The format of bodies and signatures.', webhookFormats)),
  description: nullable(
    ({ description }) => description,
    text('The description that the merchant gave it.', 'Our bookkeeping'),
  ),
  status: member(({ status }) => status, oneOf('Whether events are sent to it.', webhookEndpointStatuses)),
  disabled_reason: nullInExample(
    ({ disabledReason }) => disabledReason,
    oneOf('Why it is disabled; null while it is enabled.', disabledReasons),
  ),
  public_key: nullInExample(
    ({ publicKey }) => publicKey,
    plainText(
      'The key that verifies `v1a` signatures; null without asymmetric signing.',
      'whpk_2NG9UIrLsgsY16YFOR4Zx4nTNVzLFlEhe5a0sAV1O2o=',
    ),
  ),
  sent_up_to: member(
    ({ cursor }) => cursor,
    integer('The `sequence` up to which every event was attempted; some may have a retry pending.', 1234),
  ),
  failures: member(({ failures }) => failures, integer('Failed attempts since the last success.', 0)),
  failing_since: nullInExample(
    ({ failingSince }) => failingSince,
    timestamp('The time of the first of these failures.'),
  ),
  created_at: member(({ createdAt }) => createdAt, timestamp('When it was created.')),
  updated_at: member(({ updatedAt }) => updatedAt, timestamp('When it was last changed.')),
}

export const webhookEndpointResource = resource<WebhookEndpoint>(
  'WebhookEndpoint',
  'A URL that receives the events of a merchant.',
  endpointMembers,
)
