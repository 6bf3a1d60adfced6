import { integer, oneOf, plainText, someOf, text, timestamp, uuid } from '../../../rest/json-types.ts'
import type { ShapeMembers } from '../../../rest/shape.ts'
import { member, nullable, nullInExample, resource } from '../../../rest/shape.ts'
import { eventTypes } from '../../outbox/event.ts'
import { webhookFormats } from '../transport/formats.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'
import { disabledReasons, endpointDescriptions, webhookEndpointStatuses } from './webhook-endpoint.ts'

export const endpointMembers: ShapeMembers<WebhookEndpoint> = {
  id: member(({ id }) => id, uuid('The id of the endpoint.', '01980c62-3b4c-7d5e-8f60-718293a4b5c6')),
  url: member(({ url }) => url, text(endpointDescriptions.url, 'https://example.com/webhooks')),
  types: member(({ types }) => types, someOf(endpointDescriptions.types, eventTypes, ['payout.completed'])),
  format: member(({ format }) => format, oneOf(endpointDescriptions.format, webhookFormats)),
  description: nullable(({ description }) => description, text(endpointDescriptions.description, 'Our bookkeeping')),
  status: member(({ status }) => status, oneOf(endpointDescriptions.status, webhookEndpointStatuses)),
  disabled_reason: nullInExample(
    ({ disabledReason }) => disabledReason,
    oneOf(endpointDescriptions.disabledReason, disabledReasons),
  ),
  public_key: nullInExample(
    ({ publicKey }) => publicKey,
    plainText(endpointDescriptions.publicKey, 'whpk_2NG9UIrLsgsY16YFOR4Zx4nTNVzLFlEhe5a0sAV1O2o='),
  ),
  sent_up_to: member(({ cursor }) => cursor, integer(endpointDescriptions.sentUpTo, 1234)),
  failures: member(({ failures }) => failures, integer(endpointDescriptions.failures, 0)),
  failing_since: nullInExample(({ failingSince }) => failingSince, timestamp(endpointDescriptions.failingSince)),
  created_at: member(({ createdAt }) => createdAt, timestamp(endpointDescriptions.createdAt)),
  updated_at: member(({ updatedAt }) => updatedAt, timestamp(endpointDescriptions.updatedAt)),
}

export const webhookEndpointResource = resource<WebhookEndpoint>(
  'WebhookEndpoint',
  endpointDescriptions.endpoint,
  endpointMembers,
)
