import { timestamp } from '../../../core/ids-and-clock.ts'
import { addConnection, filterType } from '../../../graphql/schema/connection-fields.ts'
import { enumType } from '../../../graphql/schema/enums.ts'
import type { ObjectField } from '../../../graphql/schema/fields.ts'
import { computedField, exposeColumn, exposeColumnAs, exposeNullableColumn, exposeRowAs, nullableComputedField, objectType } from '../../../graphql/schema/fields.ts'
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
import { webhookDeliveries } from './list-webhook-deliveries.ts'
import { replayWebhookEvents } from './replay-webhook-events.ts'
import { rotateWebhookSecret } from './rotate-webhook-secret.ts'
import { testWebhookEndpoint } from './test-webhook-endpoint.ts'
import { updateWebhookEndpoint } from './update-webhook-endpoint.ts'
import type { WebhookAttempt as AttemptRow, WebhookDelivery as DeliveryRow } from './webhook-delivery.ts'
import { deliveryStatuses, maxListedAttempts } from './webhook-delivery.ts'
import type { WebhookEndpoint as EndpointRow } from './webhook-endpoint.ts'
import { disabledReasons, webhookEndpointStatuses } from './webhook-endpoint.ts'

export const EventTypeEnum = enumType('EventType', eventTypes, 'The type of an event.')
const WebhookFormatEnum = enumType('WebhookFormat', webhookFormats, 'The format of bodies and signatures.')
const EndpointStatusEnum = enumType('WebhookEndpointStatus', webhookEndpointStatuses, 'Whether events are sent.')
const DisabledReasonEnum = enumType('WebhookDisabledReason', disabledReasons, 'Why an endpoint is disabled.')
const DeliveryStatusEnum = enumType('WebhookDeliveryStatus', deliveryStatuses, 'The status of a delivery.')
const StartPositionEnum = enumType('WebhookStart', webhookStartPositions, 'Where an enabled endpoint continues.')

const WebhookAttempt = objectType<AttemptRow>('WebhookAttempt', {
  description: 'One HTTP request of a delivery.',
  fields: {
    attemptedAt: exposeColumn('attemptedAt', 'The time of the request.', 'DateTime'),
    durationMs: exposeColumn('durationMs', 'The duration in milliseconds.', 'Int'),
    status: exposeNullableColumn('status', 'The HTTP status of the response; null without a complete response.', 'Int'),
    error: exposeNullableColumn('error', 'Why there is no complete response.'),
    answer: exposeNullableColumn('answer', 'The beginning of the response body, at most 1 KiB.'),
  },
})

const WebhookDelivery = objectType<DeliveryRow>('WebhookDelivery', {
  description: 'An event on its way to one endpoint.',
  fields: {
    eventId: computedField('String', ['merchantId', 'sequence', 'eventTime'], 'The id of the event.', (delivery) =>
      eventId({ ...delivery, time: delivery.eventTime }),
    ),
    eventType: exposeColumn('eventType', 'The type of the event.', EventTypeEnum),
    sequence: exposeColumn('sequence', 'The `sequence` of the event.', 'Int'),
    status: exposeColumn('status', 'The status of the delivery.', DeliveryStatusEnum),
    nextAttemptAt: nullableComputedField(
      'DateTime',
      ['nextAttemptAt'],
      'The time of the next attempt; null if none is scheduled.',
      ({ nextAttemptAt }) => (nextAttemptAt === null ? null : timestamp(Number(nextAttemptAt))),
    ),
    attempts: computedField(
      [WebhookAttempt],
      ['log'],
      `The latest attempts, at most ${maxListedAttempts}, oldest first; they are kept for 30 days.`,
      ({ log }) => log,
    ),
  },
})

export const WebhookEndpoint = nodeType<EndpointRow>('WebhookEndpoint', {
  description: 'A URL that receives the events of a merchant.',
  source: sourceOfList(webhookEndpoints),
  fields: {
    uuid: exposeColumn('id', 'The id that the REST paths use.', 'UUID'),
    url: exposeColumn('url', 'The URL that events are posted to.'),
    types: exposeColumnAs('types', 'The event types that it receives; an empty list means all.', [EventTypeEnum]),
    format: exposeColumn('format', 'The format of bodies and signatures.', WebhookFormatEnum),
    description: exposeNullableColumn('description', 'The description that the merchant gave it.'),
    status: exposeColumn('status', 'Whether events are sent to it.', EndpointStatusEnum),
    disabledReason: exposeNullableColumn(
      'disabledReason',
      'Why it is disabled; null while it is enabled.',
      DisabledReasonEnum,
    ),
    publicKey: exposeNullableColumn(
      'publicKey',
      'The `whpk_` key that verifies `v1a` signatures; null without asymmetric signing.',
    ),
    sentUpTo: exposeColumn(
      'cursor',
      'The sequence up to which every event was attempted; some may have a retry pending.',
      'Int',
    ),
    failures: exposeColumn('failures', 'Failed attempts since the last success.', 'Int'),
    failingSince: exposeNullableColumn('failingSince', 'The time of the first of these failures.', 'DateTime'),
    createdAt: exposeColumn('createdAt', 'When it was created.', 'DateTime'),
    updatedAt: exposeColumn('updatedAt', 'When it was last changed.', 'DateTime'),
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
      summary: 'The deliveries to it, in order of their events',
      filter: filterType('WebhookDeliveryFilter', webhookDeliveries, { which: 'Which deliveries' }),
    },
  ],
})

const webhookId = requiredId('WebhookEndpoint')
const endpointIdInput = { webhookId }
const inputDescription = 'The webhook endpoint.'
const updatedEndpointPayload = { webhookEndpoint: exposeRowAs(WebhookEndpoint, 'The endpoint after the change.') }
const secretField = exposeColumn(
  'secret',
  'The secret of `v1` signatures: `whsec_` and 32 bytes in base64. It is shown only once.',
)
const endpointInputFields = {
  types: optional('The event types that it receives; absent or empty for all.', [EventTypeEnum]),
  format: optional('The format of bodies and signatures; `STANDARD` by default.', WebhookFormatEnum),
  description: optional('A description, at most 255 characters.'),
}
const urlDescription =
  'The URL that events are posted to: `https` in live mode, with a public address unless WEBHOOK_ALLOW lists it.'

addMutation(createWebhookEndpoint, {
  description: 'Registers where the merchant wants to be told of its events, from the next on. It may have 50.',
  inputDescription: 'Where, of what, and how.',
  input: {
    url: required(urlDescription),
    ...endpointInputFields,
    asymmetric: optional(
      'Whether to sign with an ed25519 key besides (`v1a`), so that who verifies can’t sign.',
      'Boolean',
    ),
  },
  payload: { webhookEndpoint: exposeRowAs(WebhookEndpoint, 'The new endpoint.'), secret: secretField },
})

addMutation(updateWebhookEndpoint, {
  description: 'Changes where or how events are sent.',
  inputDescription:
    'What to change of an endpoint: a field that is absent stays, an optional one that is null is as if it had never been given.',
  input: { webhookId, url: optional(urlDescription), ...endpointInputFields },
  payload: updatedEndpointPayload,
})

const deletedId: ObjectField<EndpointRow> = computedField(
  'ID',
  ['id'],
  'The global id that it had, so that a cache can forget it.',
  ({ id }) => toGlobalId(WebhookEndpoint.name, id),
)

addMutation(deleteWebhookEndpoint, {
  description: 'Deletes a webhook endpoint for good: nothing more is sent to it.',
  inputDescription,
  input: endpointIdInput,
  payload: { deletedWebhookEndpointId: deletedId },
})

addMutation(rotateWebhookSecret, {
  description:
    'Gives an endpoint a new secret, which signs at once; the old one signs as well until the overlap is over, and keys of `v1a` likewise.',
  inputDescription,
  input: {
    webhookId,
    overlapHours: optional('For how many hours what signed before still does: 0 to 168, or 24.', 'Int'),
  },
  payload: { ...updatedEndpointPayload, secret: secretField },
})

addMutation(testWebhookEndpoint, {
  description:
    'Has an event `WEBHOOK_TEST` happen, which this endpoint alone gets, whatever its types are. What became of it stands in its deliveries.',
  inputDescription,
  input: endpointIdInput,
  payload: updatedEndpointPayload,
})

addMutation(enableWebhookEndpoint, {
  description:
    'Has events sent to an endpoint again: from where it was, from now on, or all after a sequence. What waits for another attempt is tried at once.',
  inputDescription,
  input: {
    webhookId,
    from: optional('From where it goes on; `RESUME` where nothing else is said.', StartPositionEnum),
    after: optional('The sequence of the last event that it need not get, instead.', 'Int'),
  },
  payload: updatedEndpointPayload,
})

addMutation(disableWebhookEndpoint, {
  description: 'Stops what is sent to an endpoint until it is enabled.',
  inputDescription,
  input: endpointIdInput,
  payload: updatedEndpointPayload,
})

addMutation(replayWebhookEvents, {
  description:
    'Sends one event to an endpoint again, or all after a sequence or since a time, whatever became of them.',
  inputDescription: 'The webhook endpoint, and exactly one of the other fields.',
  input: {
    webhookId,
    eventId: optional('The id of the event to send again, whatever the types of the endpoint are.'),
    after: optional('Or the sequence after which all are sent again.', 'Int'),
    since: optional('Or the time since which they are; it may begin up to a minute earlier.', 'DateTime'),
  },
  payload: updatedEndpointPayload,
})
