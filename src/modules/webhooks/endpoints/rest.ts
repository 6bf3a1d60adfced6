import { timestamp as timeOf } from '../../../core/ids.ts'
import { integer, oneOf, plain, text, timestamp } from '../../../rest/forms.ts'
import { listRoute } from '../../../rest/list-route.ts'
import { addition, idField } from '../../../rest/reference.ts'
import type { Group } from '../../../rest/route.ts'
import { act, get, post, put, remove } from '../../../rest/route.ts'
import { from, listOf, message, mostlyNull, orNull, resource, shape } from '../../../rest/shape.ts'
import { eventId, eventTypes } from '../../outbox/event.ts'
import { CreateWebhookEndpointInput, createWebhookEndpoint } from './create-webhook-endpoint.ts'
import { deleteWebhookEndpoint } from './delete-webhook-endpoint.ts'
import { disableWebhookEndpoint } from './disable-webhook-endpoint.ts'
import { EnableWebhookEndpointInput, enableWebhookEndpoint } from './enable-webhook-endpoint.ts'
import { getWebhookEndpoint } from './get-webhook-endpoint.ts'
import { webhookEndpoints } from './list.ts'
import type { DeliveriesPage } from './list-webhook-deliveries.ts'
import { ListWebhookDeliveriesInput, listWebhookDeliveries } from './list-webhook-deliveries.ts'
import { ReplayWebhookEventsInput, replayWebhookEvents } from './replay-webhook-events.ts'
import { RotateWebhookSecretInput, rotateWebhookSecret } from './rotate-webhook-secret.ts'
import { testWebhookEndpoint } from './test-webhook-endpoint.ts'
import { UpdateWebhookEndpointInput, updateWebhookEndpoint } from './update-webhook-endpoint.ts'
import type { WebhookAttempt, WebhookDelivery } from './webhook-delivery.ts'
import { deliveryStatuses, mostAttempts } from './webhook-delivery.ts'
import type { KeyedWebhookEndpoint } from './webhook-endpoint.ts'
import { WebhookEndpointNamed } from './webhook-endpoint-input.ts'

import { endpointMembers, webhookEndpoint } from './webhook-endpoint-shape.ts'

const keyedEndpoint = resource<KeyedWebhookEndpoint>('KeyedWebhookEndpoint', 'An endpoint whose secret is new.', {
  ...endpointMembers,
  secret: from(
    ({ secret }) => secret,
    plain(
      'What signs with `v1`: 32 bytes in base64 after `whsec_`. It is shown now and never again.',
      'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD8rTzcNnAwaY=',
    ),
  ),
})

const attempt = shape<WebhookAttempt>('One time that it was sent.', {
  attempted_at: from(({ attemptedAt }) => attemptedAt, timestamp('When it was sent.')),
  duration_ms: from(({ durationMs }) => durationMs, integer('How many milliseconds it took.', 87)),
  status: orNull(({ status }) => status, integer('The status of the answer; null where none came.', 200)),
  error: mostlyNull(({ error }) => error, text('What went wrong.', 'the connection was refused')),
  answer: orNull(({ answer }) => answer, text('The beginning of the answer, 1 KiB at most.', 'ok')),
})

const delivery = resource<WebhookDelivery>('WebhookDelivery', 'What became of an event that was sent.', {
  event_id: from(
    ({ merchantId, sequence, eventTime }) => eventId({ merchantId, sequence, time: eventTime }),
    plain('The id of the event.', 'evt_01980c60-1f2e-7d3c-8b4a-5a00000004d2'),
  ),
  event_type: from(({ eventType }) => eventType, oneOf('What it is that happened.', eventTypes, 'payout.completed')),
  sequence: from(({ sequence }) => sequence, integer('The number of the event.', 1234)),
  status: from(({ status }) => status, oneOf('How far it has come.', deliveryStatuses, 'delivered')),
  next_attempt_at: mostlyNull(
    ({ nextAttemptAt }) => (nextAttemptAt === null ? null : timeOf(Number(nextAttemptAt))),
    timestamp('When it is tried again.'),
  ),
  attempts: from(
    ({ log }) => log,
    listOf(
      `The latest attempts, ${mostAttempts} at most, the first of them first; they are kept for 30 days.`,
      attempt,
    ),
  ),
})

const named = { webhookId: { ...idField('The id of the webhook endpoint.'), name: 'webhook_id' } }
const exampleId = '01980c62-3b4c-7d5e-8f60-718293a4b5c6'
const details = {
  url: 'Where events are to be posted to: `https` in live, and a public address unless the service allows others.',
  types: {
    type: 'array',
    items: { type: 'string', enum: eventTypes },
    description: 'Which types of events it gets; absent or empty for all.',
  },
  format: 'How events are written and signed; `standard` unless it says otherwise.',
  description: 'What its owner says of it, in at most 255 characters.',
}
const sequence = { type: 'integer', minimum: 0 }
const input = WebhookEndpointNamed
const answer = { data: webhookEndpoint }

export const webhookEndpointRoutes: Group = {
  name: 'Webhook endpoints',
  description: 'Where events are posted to as they happen.',
  routes: [
    post('/api/webhooks', {
      name: 'createWebhookEndpoint',
      title: 'Register a webhook endpoint',
      description: `Registers where the merchant wants to be told of its events, from the next on. The answer has the secret that signs, which is not shown again. A merchant may have 50. ${addition}`,
      input: CreateWebhookEndpointInput,
      operation: createWebhookEndpoint,
      fields: {
        ...details,
        asymmetric: 'Whether to sign with an ed25519 key besides (`v1a`), so that who verifies can’t sign.',
      },
      example: { url: 'https://example.com/webhooks', types: ['payout.completed', 'payout.failed'] },
      refusals: ['WEBHOOK_LIMIT_REACHED', 'NOT_CONFIGURED'],
      answer: { data: keyedEndpoint },
    }),
    listRoute('/api/webhooks', webhookEndpoints, {
      name: 'listWebhookEndpoints',
      title: 'List webhook endpoints',
      description: `Lists the webhook endpoints of the merchant, newest first, without their secrets. ${addition}`,
      example: { limit: 2 },
      rows: listOf('The endpoints of the page.', webhookEndpoint),
    }),
    get('/api/webhooks/:webhook_id', {
      name: 'getWebhookEndpoint',
      title: 'Get a webhook endpoint',
      description: `Gives one webhook endpoint of the merchant, without its secret. ${addition}`,
      input,
      operation: getWebhookEndpoint,
      fields: named,
      example: { webhookId: exampleId },
      refusals: ['RESOURCE_NOT_FOUND'],
      answer,
    }),
    put('/api/webhooks/:webhook_id', {
      name: 'updateWebhookEndpoint',
      title: 'Change a webhook endpoint',
      description: `Changes the fields of an endpoint that are sent, and no others. An optional field that is sent as null or empty is as if it had never been given. ${addition}`,
      input: UpdateWebhookEndpointInput,
      operation: updateWebhookEndpoint,
      fields: { ...named, ...details },
      example: { webhookId: exampleId, types: [] },
      refusals: ['RESOURCE_NOT_FOUND'],
      answer,
    }),
    remove('/api/webhooks/:webhook_id', {
      name: 'deleteWebhookEndpoint',
      title: 'Delete a webhook endpoint',
      description: `Deletes an endpoint for good: nothing more is sent to it. ${addition}`,
      input,
      operation: deleteWebhookEndpoint,
      fields: named,
      example: { webhookId: exampleId },
      refusals: ['RESOURCE_NOT_FOUND'],
      answer: { message: message('Webhook endpoint deleted successfully') },
    }),
    act('/api/webhooks/:webhook_id/rotate', {
      name: 'rotateWebhookSecret',
      title: 'Give a webhook endpoint a new secret',
      description: `The new secret signs at once, and the old one as well until the overlap is over; keys of \`v1a\` likewise. It is not shown again. ${addition}`,
      input: RotateWebhookSecretInput,
      operation: rotateWebhookSecret,
      fields: {
        ...named,
        overlapHours: { default: 24, description: 'For how many hours what signed before still does: 0 to 168.' },
      },
      example: { webhookId: exampleId, overlapHours: 48 },
      refusals: ['RESOURCE_NOT_FOUND', 'NOT_CONFIGURED'],
      answer: { data: keyedEndpoint },
    }),
    act('/api/webhooks/:webhook_id/test', {
      name: 'testWebhookEndpoint',
      title: 'Try a webhook endpoint',
      description: `Has an event \`webhook.test\` happen, which this endpoint alone gets, whatever its types are. What became of it stands in its deliveries. ${addition}`,
      input,
      operation: testWebhookEndpoint,
      fields: named,
      example: { webhookId: exampleId },
      refusals: ['RESOURCE_NOT_FOUND', 'WEBHOOK_DISABLED'],
      answer,
    }),
    act('/api/webhooks/:webhook_id/disable', {
      name: 'disableWebhookEndpoint',
      title: 'Disable a webhook endpoint',
      description: `Stops what is sent to an endpoint until it is enabled. ${addition}`,
      input,
      operation: disableWebhookEndpoint,
      fields: named,
      example: { webhookId: exampleId },
      refusals: ['RESOURCE_NOT_FOUND'],
      answer,
    }),
    act('/api/webhooks/:webhook_id/enable', {
      name: 'enableWebhookEndpoint',
      title: 'Enable a webhook endpoint',
      description: `Has events sent to an endpoint again: from where it was, from now on, or all after a sequence. What waits for another attempt is tried at once. ${addition}`,
      input: EnableWebhookEndpointInput,
      operation: enableWebhookEndpoint,
      fields: {
        ...named,
        from: 'From where it goes on: `resume` where it was, which is what is done if nothing else is said, or `now`.',
        after: { ...sequence, description: 'The `sequence` of the last event that it need not get, instead.' },
      },
      example: { webhookId: exampleId, from: 'resume' },
      refusals: ['RESOURCE_NOT_FOUND'],
      answer,
    }),
    act('/api/webhooks/:webhook_id/replay', {
      name: 'replayWebhookEvents',
      title: 'Send events again',
      description: `Sends one event to an endpoint again, or all after a sequence or since a time, whatever became of them. ${addition}`,
      input: ReplayWebhookEventsInput,
      operation: replayWebhookEvents,
      fields: {
        ...named,
        eventId: 'The id of the event to send again, whatever the types of the endpoint are.',
        after: { ...sequence, description: 'Or the `sequence` after which all are sent again.' },
        since: {
          format: 'date-time',
          description: 'Or the time since which they are; it may begin up to a minute earlier.',
        },
      },
      example: { webhookId: exampleId, after: 0 },
      refusals: ['RESOURCE_NOT_FOUND', 'WEBHOOK_DISABLED'],
      answer,
    }),
    get('/api/webhooks/:webhook_id/deliveries', {
      name: 'listWebhookDeliveries',
      title: 'List what became of events',
      description: `The log of an endpoint: what was sent to it, the newest event first, with its latest attempts. ${addition}`,
      input: ListWebhookDeliveriesInput,
      operation: listWebhookDeliveries,
      fields: {
        ...named,
        status: 'Only what became of events in this way.',
        before: { type: 'integer', minimum: 1, description: 'Only events before this `sequence`.' },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'How many at most.' },
      },
      example: { webhookId: exampleId, limit: 2 },
      refusals: ['RESOURCE_NOT_FOUND'],
      answer: {
        data: from(({ items }: DeliveriesPage) => items, listOf('What was sent.', delivery)),
        pagination: shape<DeliveriesPage>('Where to go on.', {
          limit: from(({ limit }) => limit, integer('How many are given at most.', 20)),
          before: orNull(({ next }) => next, integer('What to ask for next as `before`; null at the end.', 1200)),
        }),
      },
    }),
  ],
}
