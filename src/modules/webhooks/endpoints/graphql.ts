import { timestamp } from '../../../core/ids-and-clock.ts'
import { addConnection, filterType } from '../../../graphql/schema/connection-fields.ts'
import { enumType } from '../../../graphql/schema/enums.ts'
import type { ObjectField } from '../../../graphql/schema/fields.ts'
import {
  computedField,
  exposeColumn,
  exposeColumnAs,
  exposeNullableColumn,
  exposeRowAs,
  nullableComputedField,
  objectType,
} from '../../../graphql/schema/fields.ts'
import { toGlobalId } from '../../../graphql/schema/global-ids.ts'
import { optional, required, requiredId } from '../../../graphql/schema/inputs.ts'
import { sourceOfList } from '../../../graphql/schema/loader.ts'
import { addMutation } from '../../../graphql/schema/mutation.ts'
import { addNodeQuery, nodeType } from '../../../graphql/schema/node.ts'
import { Merchant } from '../../merchants/graphql.ts'
import { eventId, eventTypes } from '../../outbox/event.ts'
import { webhookFormats } from '../transport/formats.ts'
import { createWebhookEndpoint } from './create-webhook-endpoint.ts'
import { deleteWebhookEndpoint } from './delete-webhook-endpoint.ts'
import { disableWebhookEndpoint } from './disable-webhook-endpoint.ts'
import { enableWebhookEndpoint, webhookStartPositions } from './enable-webhook-endpoint.ts'
import { webhookEndpoints } from './list.ts'
import type { WebhookAttempt as AttemptRow, WebhookDelivery as DeliveryRow } from './list-webhook-deliveries.ts'
import { deliveryDescriptions, deliveryStatuses, webhookDeliveries } from './list-webhook-deliveries.ts'
import { replayWebhookEvents } from './replay-webhook-events.ts'
import { rotateWebhookSecret } from './rotate-webhook-secret.ts'
import { testWebhookEndpoint } from './test-webhook-endpoint.ts'
import { updateWebhookEndpoint } from './update-webhook-endpoint.ts'
import type { WebhookEndpoint as EndpointRow } from './webhook-endpoint.ts'
import { disabledReasons, endpointDescriptions, webhookEndpointStatuses } from './webhook-endpoint.ts'

export const EventTypeEnum = enumType('EventType', eventTypes, 'The type of an event.')
const WebhookFormatEnum = enumType('WebhookFormat', webhookFormats, 'The format and signature of messages.')
const EndpointStatusEnum = enumType(
  'WebhookEndpointStatus',
  webhookEndpointStatuses,
  'The status of a webhook endpoint.',
)
const DisabledReasonEnum = enumType(
  'WebhookDisabledReason',
  disabledReasons,
  'The reason for which an endpoint is disabled.',
)
const DeliveryStatusEnum = enumType('WebhookDeliveryStatus', deliveryStatuses, deliveryDescriptions.status)
const StartPositionEnum = enumType('WebhookStart', webhookStartPositions, 'Where an enabled endpoint starts.')

const WebhookAttempt = objectType<AttemptRow>('WebhookAttempt', {
  description: deliveryDescriptions.attempt,
  fields: {
    attemptedAt: exposeColumn('attemptedAt', deliveryDescriptions.attemptedAt, 'DateTime'),
    durationMs: exposeColumn('durationMs', deliveryDescriptions.durationMs, 'Int'),
    status: exposeNullableColumn('status', deliveryDescriptions.responseStatus, 'Int'),
    error: exposeNullableColumn('error', deliveryDescriptions.error),
    answer: exposeNullableColumn('answer', deliveryDescriptions.answer),
  },
})

const WebhookDelivery = objectType<DeliveryRow>('WebhookDelivery', {
  description: deliveryDescriptions.delivery,
  fields: {
    eventId: computedField(
      'String',
      ['merchantId', 'sequence', 'eventTime'],
      deliveryDescriptions.eventId,
      (delivery) => eventId({ ...delivery, time: delivery.eventTime }),
    ),
    eventType: exposeColumn('eventType', deliveryDescriptions.eventType, EventTypeEnum),
    sequence: exposeColumn('sequence', deliveryDescriptions.sequence, 'Int'),
    status: exposeColumn('status', deliveryDescriptions.status, DeliveryStatusEnum),
    nextAttemptAt: nullableComputedField(
      'DateTime',
      ['nextAttemptAt'],
      deliveryDescriptions.nextAttemptAt,
      ({ nextAttemptAt }) => (nextAttemptAt === null ? null : timestamp(Number(nextAttemptAt))),
    ),
    attempts: computedField([WebhookAttempt], ['log'], deliveryDescriptions.attempts, ({ log }) => log),
  },
})

export const WebhookEndpoint = nodeType<EndpointRow>('WebhookEndpoint', {
  description: endpointDescriptions.endpoint,
  source: sourceOfList(webhookEndpoints),
  fields: {
    uuid: exposeColumn('id', 'The id that the REST API uses.', 'UUID'),
    url: exposeColumn('url', endpointDescriptions.url),
    types: exposeColumnAs('types', endpointDescriptions.types, [EventTypeEnum]),
    format: exposeColumn('format', endpointDescriptions.format, WebhookFormatEnum),
    description: exposeNullableColumn('description', endpointDescriptions.description),
    status: exposeColumn('status', endpointDescriptions.status, EndpointStatusEnum),
    disabledReason: exposeNullableColumn('disabledReason', endpointDescriptions.disabledReason, DisabledReasonEnum),
    publicKey: exposeNullableColumn('publicKey', endpointDescriptions.publicKey),
    sentUpTo: exposeColumn('cursor', endpointDescriptions.sentUpTo, 'Int'),
    failures: exposeColumn('failures', endpointDescriptions.failures, 'Int'),
    failingSince: exposeNullableColumn('failingSince', endpointDescriptions.failingSince, 'DateTime'),
    createdAt: exposeColumn('createdAt', endpointDescriptions.createdAt, 'DateTime'),
    updatedAt: exposeColumn('updatedAt', endpointDescriptions.updatedAt, 'DateTime'),
  },
})

addNodeQuery('webhookEndpoint', WebhookEndpoint)

const endpointFilter = filterType('WebhookEndpointFilter', webhookEndpoints, { which: 'Which webhook endpoints' })
const listDescription = 'The webhook endpoints of the merchant'

addConnection('webhookEndpoints', webhookEndpoints, {
  of: WebhookEndpoint,
  items: 'webhook endpoints',
  called: 'endpoints',
  places: [
    { summary: listDescription, filter: endpointFilter },
    { on: Merchant, summary: listDescription, filter: endpointFilter },
  ],
})

addConnection('deliveries', webhookDeliveries, {
  of: WebhookDelivery,
  items: 'deliveries',
  places: [
    {
      on: WebhookEndpoint,
      parent: 'endpoint',
      summary: 'The deliveries to this endpoint, by event',
      filter: filterType('WebhookDeliveryFilter', webhookDeliveries, { which: 'Which deliveries' }),
    },
  ],
})

const webhookId = requiredId('WebhookEndpoint')
const endpointIdInput = { webhookId }
const inputDescription = 'The webhook endpoint.'
const updatedEndpointPayload = { webhookEndpoint: exposeRowAs(WebhookEndpoint, 'The changed endpoint.') }
const secretField = exposeColumn('secret', endpointDescriptions.secret)
const endpointInputFields = {
  types: optional(endpointDescriptions.typesInput, [EventTypeEnum]),
  format: optional(`${endpointDescriptions.format} The default is \`STANDARD\`.`, WebhookFormatEnum),
  description: optional(endpointDescriptions.descriptionInput),
}

addMutation(createWebhookEndpoint, {
  description: 'Registers a webhook endpoint, which receives events from the next on. A merchant may have 50.',
  inputDescription: 'The endpoint to register.',
  input: {
    url: required(endpointDescriptions.urlInput),
    ...endpointInputFields,
    asymmetric: optional(endpointDescriptions.asymmetric, 'Boolean'),
  },
  payload: { webhookEndpoint: exposeRowAs(WebhookEndpoint, 'The new endpoint.'), secret: secretField },
})

addMutation(updateWebhookEndpoint, {
  description: 'Changes a webhook endpoint.',
  inputDescription:
    'The changes to an endpoint. An absent field keeps its value; an optional field that is null gets its default.',
  input: { webhookId, url: optional(endpointDescriptions.urlInput), ...endpointInputFields },
  payload: updatedEndpointPayload,
})

const deletedId: ObjectField<EndpointRow> = computedField(
  'ID',
  ['id'],
  'The global id of the deleted endpoint, for removal from caches.',
  ({ id }) => toGlobalId(WebhookEndpoint.name, id),
)

addMutation(deleteWebhookEndpoint, {
  description: 'Permanently deletes a webhook endpoint.',
  inputDescription,
  input: endpointIdInput,
  payload: { deletedWebhookEndpointId: deletedId },
})

addMutation(rotateWebhookSecret, {
  description: endpointDescriptions.rotate,
  inputDescription,
  input: {
    webhookId,
    overlapHours: optional(endpointDescriptions.overlapHours, 'Int'),
  },
  payload: { ...updatedEndpointPayload, secret: secretField },
})

addMutation(testWebhookEndpoint, {
  description: endpointDescriptions.test,
  inputDescription,
  input: endpointIdInput,
  payload: updatedEndpointPayload,
})

addMutation(enableWebhookEndpoint, {
  description: endpointDescriptions.enable,
  inputDescription,
  input: {
    webhookId,
    from: optional('Where to start; `RESUME` by default.', StartPositionEnum),
    after: optional(endpointDescriptions.startAfter, 'Int'),
  },
  payload: updatedEndpointPayload,
})

addMutation(disableWebhookEndpoint, {
  description: 'Disables an endpoint: no events are sent until it is enabled.',
  inputDescription,
  input: endpointIdInput,
  payload: updatedEndpointPayload,
})

addMutation(replayWebhookEvents, {
  description: endpointDescriptions.replay,
  inputDescription: 'The webhook endpoint, and exactly one of the other fields.',
  input: {
    webhookId,
    eventId: optional(endpointDescriptions.replayEventId),
    after: optional(endpointDescriptions.replayAfter, 'Int'),
    since: optional(endpointDescriptions.replaySince, 'DateTime'),
  },
  payload: updatedEndpointPayload,
})
