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
import { deliveryStatuses, maxListedAttempts, webhookDeliveries } from './list-webhook-deliveries.ts'
import { replayWebhookEvents } from './replay-webhook-events.ts'
import { rotateWebhookSecret } from './rotate-webhook-secret.ts'
import { testWebhookEndpoint } from './test-webhook-endpoint.ts'
import { updateWebhookEndpoint } from './update-webhook-endpoint.ts'
import type { WebhookEndpoint as EndpointRow } from './webhook-endpoint.ts'
import { disabledReasons, webhookEndpointStatuses } from './webhook-endpoint.ts'

export const EventTypeEnum = enumType('EventType', eventTypes, 'What can happen.')
const WebhookFormatEnum = enumType('WebhookFormat', webhookFormats, 'How events are written and signed.')
const EndpointStatusEnum = enumType('WebhookEndpointStatus', webhookEndpointStatuses, 'Whether anything is sent.')
const DisabledReasonEnum = enumType('WebhookDisabledReason', disabledReasons, 'Why nothing is sent to an endpoint.')
const DeliveryStatusEnum = enumType('WebhookDeliveryStatus', deliveryStatuses, 'What became of an event.')
const StartPositionEnum = enumType(
  'WebhookStart',
  webhookStartPositions,
  'From where an endpoint that is enabled goes on.',
)

const WebhookAttempt = objectType<AttemptRow>('WebhookAttempt', {
  description: 'One time that an event was sent to an endpoint.',
  fields: {
    attemptedAt: exposeColumn('attemptedAt', 'When it was sent.', 'DateTime'),
    durationMs: exposeColumn('durationMs', 'How many milliseconds it took.', 'Int'),
    status: exposeNullableColumn('status', 'The HTTP status of the answer; null where none came.', 'Int'),
    error: exposeNullableColumn('error', 'What went wrong, if anything did.'),
    answer: exposeNullableColumn('answer', 'The beginning of the answer, 1 KiB at most.'),
  },
})

const WebhookDelivery = objectType<DeliveryRow>('WebhookDelivery', {
  description: 'What became of an event that was sent to an endpoint.',
  fields: {
    eventId: computedField('String', ['merchantId', 'sequence', 'eventTime'], 'The id of the event.', (delivery) =>
      eventId({ ...delivery, time: delivery.eventTime }),
    ),
    eventType: exposeColumn('eventType', 'What it is that happened.', EventTypeEnum),
    sequence: exposeColumn('sequence', 'The number of the event.', 'Int'),
    status: exposeColumn('status', 'How far it has come.', DeliveryStatusEnum),
    nextAttemptAt: nullableComputedField(
      'DateTime',
      ['nextAttemptAt'],
      'When it is tried again.',
      ({ nextAttemptAt }) => (nextAttemptAt === null ? null : timestamp(Number(nextAttemptAt))),
    ),
    attempts: computedField(
      [WebhookAttempt],
      ['log'],
      `The latest attempts, ${maxListedAttempts} at most, the first of them first; they are kept for 30 days.`,
      ({ log }) => log,
    ),
  },
})

export const WebhookEndpoint = nodeType<EndpointRow>('WebhookEndpoint', {
  description: 'Where the merchant wants to be told of its events.',
  source: sourceOfList(webhookEndpoints),
  fields: {
    uuid: exposeColumn('id', 'The id that the REST paths use.', 'UUID'),
    url: exposeColumn('url', 'Where events are posted to.'),
    types: exposeColumnAs('types', 'The types of events that it gets; an empty list means all.', [EventTypeEnum]),
    format: exposeColumn('format', 'How they are written and signed.', WebhookFormatEnum),
    description: exposeNullableColumn('description', 'What its owner says of it.'),
    status: exposeColumn('status', 'Whether anything is sent to it.', EndpointStatusEnum),
    disabledReason: exposeNullableColumn(
      'disabledReason',
      'Why it is disabled; null while it is enabled.',
      DisabledReasonEnum,
    ),
    publicKey: exposeNullableColumn(
      'publicKey',
      'What verifies `v1a` signatures, where they were asked for: a `whpk_` key.',
    ),
    sentUpTo: exposeColumn(
      'cursor',
      'The sequence up to which every event was sent, or is about to be tried again.',
      'Int',
    ),
    failures: exposeColumn('failures', 'How often sending failed since it last succeeded.', 'Int'),
    failingSince: exposeNullableColumn('failingSince', 'Since when it has failed.', 'DateTime'),
    createdAt: exposeColumn('createdAt', 'When it was registered.', 'DateTime'),
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
      summary: 'What was sent to it, by its event',
      filter: filterType('WebhookDeliveryFilter', webhookDeliveries, { which: 'Which deliveries' }),
    },
  ],
})

const webhookId = requiredId('WebhookEndpoint')
const endpointIdInput = { webhookId }
const inputDescription = 'The webhook endpoint.'
const updatedEndpointPayload = { webhookEndpoint: exposeRowAs(WebhookEndpoint, 'The endpoint as it is now.') }
const secretField = exposeColumn(
  'secret',
  'What signs with `v1`: 32 bytes in base64 after `whsec_`. It is shown now and never again.',
)
const endpointInputFields = {
  types: optional('Which types of events it gets; absent or empty for all.', [EventTypeEnum]),
  format: optional('How they are written and signed; `STANDARD` unless it says otherwise.', WebhookFormatEnum),
  description: optional('What its owner says of it, in at most 255 characters.'),
}
const urlDescription =
  'Where events are to be posted to: `https` in live, and a public address unless the service allows others.'

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
