import { timestamp as timeOf } from '../../../core/ids-and-clock.ts'
import { idField, notInContract } from '../../../rest/input-fields.ts'
import { integer, oneOf, plainText, text, timestamp } from '../../../rest/json-types.ts'
import { listRoute } from '../../../rest/list-route.ts'
import type { RouteGroup } from '../../../rest/route.ts'
import { get, post, postAction, put, remove } from '../../../rest/route.ts'
import { constantMessage, listOf, member, nullable, nullInExample, resource, shape } from '../../../rest/shape.ts'
import { eventId, eventTypes } from '../../outbox/event.ts'
import { createWebhookEndpoint } from './create-webhook-endpoint.ts'
import { deleteWebhookEndpoint } from './delete-webhook-endpoint.ts'
import { disableWebhookEndpoint } from './disable-webhook-endpoint.ts'
import { enableWebhookEndpoint } from './enable-webhook-endpoint.ts'
import { getWebhookEndpoint } from './get-webhook-endpoint.ts'
import { webhookEndpoints } from './list.ts'
import type { DeliveriesPage, WebhookAttempt, WebhookDelivery } from './list-webhook-deliveries.ts'
import {
  deliveryStatuses,
  ListWebhookDeliveriesInput,
  listWebhookDeliveries,
  maxListedAttempts,
} from './list-webhook-deliveries.ts'
import { replayWebhookEvents } from './replay-webhook-events.ts'
import { rotateWebhookSecret } from './rotate-webhook-secret.ts'
import { testWebhookEndpoint } from './test-webhook-endpoint.ts'
import { updateWebhookEndpoint } from './update-webhook-endpoint.ts'
import type { KeyedWebhookEndpoint } from './webhook-endpoint.ts'
import { WebhookEndpointIdInput } from './webhook-endpoint-input.ts'

import { endpointMembers, webhookEndpointResource } from './webhook-endpoint-shape.ts'

const keyedEndpointResource = resource<KeyedWebhookEndpoint>(
  'KeyedWebhookEndpoint',
  'An endpoint whose secret is new.',
  {
    ...endpointMembers,
    secret: member(
      ({ secret }) => secret,
      plainText(
        'What signs with `v1`: 32 bytes in base64 after `whsec_`. It is shown now and never again.',
        'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD8rTzcNnAwaY=',
      ),
    ),
  },
)

const attemptShape = shape<WebhookAttempt>('One time that it was sent.', {
  attempted_at: member(({ attemptedAt }) => attemptedAt, timestamp('When it was sent.')),
  duration_ms: member(({ durationMs }) => durationMs, integer('How many milliseconds it took.', 87)),
  status: nullable(({ status }) => status, integer('The status of the answer; null where none came.', 200)),
  error: nullInExample(({ error }) => error, text('What went wrong.', 'the connection was refused')),
  answer: nullable(({ answer }) => answer, text('The beginning of the answer, 1 KiB at most.', 'ok')),
})

const deliveryResource = resource<WebhookDelivery>('WebhookDelivery', 'What became of an event that was sent.', {
  event_id: member(
    ({ merchantId, sequence, eventTime }) => eventId({ merchantId, sequence, time: eventTime }),
    plainText('The id of the event.', 'evt_01980c60-1f2e-7d3c-8b4a-5a00000004d2'),
  ),
  event_type: member(({ eventType }) => eventType, oneOf('What it is that happened.', eventTypes, 'payout.completed')),
  sequence: member(({ sequence }) => sequence, integer('The number of the event.', 1234)),
  status: member(({ status }) => status, oneOf('How far it has come.', deliveryStatuses, 'delivered')),
  next_attempt_at: nullInExample(
    ({ nextAttemptAt }) => (nextAttemptAt === null ? null : timeOf(Number(nextAttemptAt))),
    timestamp('When it is tried again.'),
  ),
  attempts: member(
    ({ log }) => log,
    listOf(
      `The latest attempts, ${maxListedAttempts} at most, the first of them first; they are kept for 30 days.`,
      attemptShape,
    ),
  ),
})

const webhookIdField = { webhookId: { ...idField('The id of the webhook endpoint.'), name: 'webhook_id' } }
const exampleId = '01980c62-3b4c-7d5e-8f60-718293a4b5c6'
const endpointFieldDocs = {
  url: 'Where events are to be posted to: `https` in live, and a public address unless the service allows others.',
  types: {
    type: 'array',
    items: { type: 'string', enum: eventTypes },
    description: 'Which types of events it gets; absent or empty for all.',
  },
  format: 'How events are written and signed; `standard` unless it says otherwise.',
  description: 'What its owner says of it, in at most 255 characters.',
}
const sequenceSchema = { type: 'integer', minimum: 0 }
const endpointIdInput = WebhookEndpointIdInput
const endpointResponse = { data: webhookEndpointResource }

export const webhookEndpointRoutes: RouteGroup = {
  name: 'Webhook endpoints',
  description: 'Where events are posted to as they happen.',
  routes: [
    post('/api/webhooks', createWebhookEndpoint, {
      title: 'Register a webhook endpoint',
      description: `Registers where the merchant wants to be told of its events, from the next on. The answer has the secret that signs, which is not shown again. A merchant may have 50. ${notInContract}`,
      fields: {
        ...endpointFieldDocs,
        asymmetric: 'Whether to sign with an ed25519 key besides (`v1a`), so that who verifies can’t sign.',
      },
      example: { url: 'https://example.com/webhooks', types: ['payout.completed', 'payout.failed'] },
      response: { data: keyedEndpointResource },
    }),
    listRoute('/api/webhooks', webhookEndpoints, {
      name: 'listWebhookEndpoints',
      title: 'List webhook endpoints',
      description: `Lists the webhook endpoints of the merchant, newest first, without their secrets. ${notInContract}`,
      example: { limit: 2 },
      rows: listOf('The endpoints of the page.', webhookEndpointResource),
    }),
    get('/api/webhooks/:webhook_id', {
      name: 'getWebhookEndpoint',
      title: 'Get a webhook endpoint',
      description: `Gives one webhook endpoint of the merchant, without its secret. ${notInContract}`,
      input: endpointIdInput,
      operation: getWebhookEndpoint,
      fields: webhookIdField,
      example: { webhookId: exampleId },
      errors: ['RESOURCE_NOT_FOUND'],
      response: endpointResponse,
    }),
    put('/api/webhooks/:webhook_id', updateWebhookEndpoint, {
      title: 'Change a webhook endpoint',
      description: `Changes the fields of an endpoint that are sent, and no others. An optional field that is sent as null or empty is as if it had never been given. ${notInContract}`,
      fields: { ...webhookIdField, ...endpointFieldDocs },
      example: { webhookId: exampleId, types: [] },
      response: endpointResponse,
    }),
    remove('/api/webhooks/:webhook_id', deleteWebhookEndpoint, {
      title: 'Delete a webhook endpoint',
      description: `Deletes an endpoint for good: nothing more is sent to it. ${notInContract}`,
      fields: webhookIdField,
      example: { webhookId: exampleId },
      response: { message: constantMessage('Webhook endpoint deleted successfully') },
    }),
    postAction('/api/webhooks/:webhook_id/rotate', rotateWebhookSecret, {
      title: 'Give a webhook endpoint a new secret',
      description: `The new secret signs at once, and the old one as well until the overlap is over; keys of \`v1a\` likewise. It is not shown again. ${notInContract}`,
      fields: {
        ...webhookIdField,
        overlapHours: { default: 24, description: 'For how many hours what signed before still does: 0 to 168.' },
      },
      example: { webhookId: exampleId, overlapHours: 48 },
      response: { data: keyedEndpointResource },
    }),
    postAction('/api/webhooks/:webhook_id/test', testWebhookEndpoint, {
      title: 'Try a webhook endpoint',
      description: `Has an event \`webhook.test\` happen, which this endpoint alone gets, whatever its types are. What became of it stands in its deliveries. ${notInContract}`,
      fields: webhookIdField,
      example: { webhookId: exampleId },
      response: endpointResponse,
    }),
    postAction('/api/webhooks/:webhook_id/disable', disableWebhookEndpoint, {
      title: 'Disable a webhook endpoint',
      description: `Stops what is sent to an endpoint until it is enabled. ${notInContract}`,
      fields: webhookIdField,
      example: { webhookId: exampleId },
      response: endpointResponse,
    }),
    postAction('/api/webhooks/:webhook_id/enable', enableWebhookEndpoint, {
      title: 'Enable a webhook endpoint',
      description: `Has events sent to an endpoint again: from where it was, from now on, or all after a sequence. What waits for another attempt is tried at once. ${notInContract}`,
      fields: {
        ...webhookIdField,
        from: 'From where it goes on: `resume` where it was, which is what is done if nothing else is said, or `now`.',
        after: { ...sequenceSchema, description: 'The `sequence` of the last event that it need not get, instead.' },
      },
      example: { webhookId: exampleId, from: 'resume' },
      response: endpointResponse,
    }),
    postAction('/api/webhooks/:webhook_id/replay', replayWebhookEvents, {
      title: 'Send events again',
      description: `Sends one event to an endpoint again, or all after a sequence or since a time, whatever became of them. ${notInContract}`,
      fields: {
        ...webhookIdField,
        eventId: 'The id of the event to send again, whatever the types of the endpoint are.',
        after: { ...sequenceSchema, description: 'Or the `sequence` after which all are sent again.' },
        since: {
          format: 'date-time',
          description: 'Or the time since which they are; it may begin up to a minute earlier.',
        },
      },
      example: { webhookId: exampleId, after: 0 },
      response: endpointResponse,
    }),
    get('/api/webhooks/:webhook_id/deliveries', {
      name: 'listWebhookDeliveries',
      title: 'List what became of events',
      description: `The log of an endpoint: what was sent to it, the newest event first, with its latest attempts. ${notInContract}`,
      input: ListWebhookDeliveriesInput,
      operation: listWebhookDeliveries,
      fields: {
        ...webhookIdField,
        status: 'Only what became of events in this way.',
        before: { type: 'integer', minimum: 1, description: 'Only events before this `sequence`.' },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'How many at most.' },
      },
      example: { webhookId: exampleId, limit: 2 },
      errors: ['RESOURCE_NOT_FOUND'],
      response: {
        data: member(({ items }: DeliveriesPage) => items, listOf('What was sent.', deliveryResource)),
        pagination: shape<DeliveriesPage>('Where to go on.', {
          limit: member(({ limit }) => limit, integer('How many are given at most.', 20)),
          before: nullable(({ next }) => next, integer('What to ask for next as `before`; null at the end.', 1200)),
        }),
      },
    }),
  ],
}
