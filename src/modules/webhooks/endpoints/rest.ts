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
  deliveryDescriptions,
  deliveryStatuses,
  ListWebhookDeliveriesInput,
  listWebhookDeliveries,
} from './list-webhook-deliveries.ts'
import { replayWebhookEvents } from './replay-webhook-events.ts'
import { rotateWebhookSecret } from './rotate-webhook-secret.ts'
import { testWebhookEndpoint } from './test-webhook-endpoint.ts'
import { updateWebhookEndpoint } from './update-webhook-endpoint.ts'
import type { KeyedWebhookEndpoint } from './webhook-endpoint.ts'
import { endpointDescriptions, WebhookEndpointIdInput } from './webhook-endpoint.ts'

import { endpointMembers, webhookEndpointResource } from './webhook-endpoint-shape.ts'

const keyedEndpointResource = resource<KeyedWebhookEndpoint>(
  'KeyedWebhookEndpoint',
  'A webhook endpoint with a new secret.',
  {
    ...endpointMembers,
    secret: member(
      ({ secret }) => secret,
      plainText(endpointDescriptions.secret, 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD8rTzcNnAwaY='),
    ),
  },
)

const attemptShape = shape<WebhookAttempt>(deliveryDescriptions.attempt, {
  attempted_at: member(({ attemptedAt }) => attemptedAt, timestamp(deliveryDescriptions.attemptedAt)),
  duration_ms: member(({ durationMs }) => durationMs, integer(deliveryDescriptions.durationMs, 87)),
  status: nullable(({ status }) => status, integer(deliveryDescriptions.responseStatus, 200)),
  error: nullInExample(({ error }) => error, text(deliveryDescriptions.error, 'the connection was refused')),
  answer: nullable(({ answer }) => answer, text(deliveryDescriptions.answer, 'ok')),
})

const deliveryResource = resource<WebhookDelivery>('WebhookDelivery', deliveryDescriptions.delivery, {
  event_id: member(
    ({ merchantId, sequence, eventTime }) => eventId({ merchantId, sequence, time: eventTime }),
    plainText(deliveryDescriptions.eventId, 'evt_01980c60-1f2e-7d3c-8b4a-5a00000004d2'),
  ),
  event_type: member(
    ({ eventType }) => eventType,
    oneOf(deliveryDescriptions.eventType, eventTypes, 'payout.completed'),
  ),
  sequence: member(({ sequence }) => sequence, integer(deliveryDescriptions.sequence, 1234)),
  status: member(({ status }) => status, oneOf(deliveryDescriptions.status, deliveryStatuses, 'delivered')),
  next_attempt_at: nullInExample(
    ({ nextAttemptAt }) => (nextAttemptAt === null ? null : timeOf(Number(nextAttemptAt))),
    timestamp(deliveryDescriptions.nextAttemptAt),
  ),
  attempts: member(({ log }) => log, listOf(deliveryDescriptions.attempts, attemptShape)),
})

const webhookIdField = { webhookId: { ...idField('The id of the webhook endpoint.'), name: 'webhook_id' } }
const exampleId = '01980c62-3b4c-7d5e-8f60-718293a4b5c6'
const endpointFieldDocs = {
  url: endpointDescriptions.urlInput,
  types: {
    type: 'array',
    items: { type: 'string', enum: eventTypes },
    description: endpointDescriptions.typesInput,
  },
  format: `${endpointDescriptions.format} The default is \`standard\`.`,
  description: endpointDescriptions.descriptionInput,
}
const sequenceSchema = { type: 'integer', minimum: 0 }
const endpointIdInput = WebhookEndpointIdInput
const endpointResponse = { data: webhookEndpointResource }

export const webhookEndpointRoutes: RouteGroup = {
  name: 'Webhook endpoints',
  description: 'URLs that events are posted to as they happen.',
  routes: [
    post('/api/webhooks', createWebhookEndpoint, {
      title: 'Register a webhook endpoint',
      description: `Registers a webhook endpoint, which receives events from the next on. The response has the secret, which is not shown again. A merchant may have 50 endpoints. ${notInContract}`,
      fields: {
        ...endpointFieldDocs,
        asymmetric: endpointDescriptions.asymmetric,
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
      description: `Returns a webhook endpoint, without its secret. ${notInContract}`,
      input: endpointIdInput,
      operation: getWebhookEndpoint,
      fields: webhookIdField,
      example: { webhookId: exampleId },
      errors: ['RESOURCE_NOT_FOUND'],
      response: endpointResponse,
    }),
    put('/api/webhooks/:webhook_id', updateWebhookEndpoint, {
      title: 'Change a webhook endpoint',
      description: `Changes the sent fields of an endpoint. An optional field that is sent as null or empty gets its default. ${notInContract}`,
      fields: { ...webhookIdField, ...endpointFieldDocs },
      example: { webhookId: exampleId, types: [] },
      response: endpointResponse,
    }),
    remove('/api/webhooks/:webhook_id', deleteWebhookEndpoint, {
      title: 'Delete a webhook endpoint',
      description: `Permanently deletes an endpoint. ${notInContract}`,
      fields: webhookIdField,
      example: { webhookId: exampleId },
      response: { message: constantMessage('Webhook endpoint deleted successfully') },
    }),
    postAction('/api/webhooks/:webhook_id/rotate', rotateWebhookSecret, {
      title: 'Rotate the secret of a webhook endpoint',
      description: `${endpointDescriptions.rotate} ${notInContract}`,
      fields: {
        ...webhookIdField,
        overlapHours: { default: 24, description: endpointDescriptions.overlapHours },
      },
      example: { webhookId: exampleId, overlapHours: 48 },
      response: { data: keyedEndpointResource },
    }),
    postAction('/api/webhooks/:webhook_id/test', testWebhookEndpoint, {
      title: 'Test a webhook endpoint',
      description: `${endpointDescriptions.test} ${notInContract}`,
      fields: webhookIdField,
      example: { webhookId: exampleId },
      response: endpointResponse,
    }),
    postAction('/api/webhooks/:webhook_id/disable', disableWebhookEndpoint, {
      title: 'Disable a webhook endpoint',
      description: `Disables an endpoint: no events are sent until it is enabled. ${notInContract}`,
      fields: webhookIdField,
      example: { webhookId: exampleId },
      response: endpointResponse,
    }),
    postAction('/api/webhooks/:webhook_id/enable', enableWebhookEndpoint, {
      title: 'Enable a webhook endpoint',
      description: `${endpointDescriptions.enable} ${notInContract}`,
      fields: {
        ...webhookIdField,
        from: endpointDescriptions.start,
        after: { ...sequenceSchema, description: endpointDescriptions.startAfter },
      },
      example: { webhookId: exampleId, from: 'resume' },
      response: endpointResponse,
    }),
    postAction('/api/webhooks/:webhook_id/replay', replayWebhookEvents, {
      title: 'Resend events',
      description: `${endpointDescriptions.replay} Give exactly one of \`event_id\`, \`after\` and \`since\`. ${notInContract}`,
      fields: {
        ...webhookIdField,
        eventId: endpointDescriptions.replayEventId,
        after: { ...sequenceSchema, description: endpointDescriptions.replayAfter },
        since: {
          format: 'date-time',
          description: endpointDescriptions.replaySince,
        },
      },
      example: { webhookId: exampleId, after: 0 },
      response: endpointResponse,
    }),
    get('/api/webhooks/:webhook_id/deliveries', {
      name: 'listWebhookDeliveries',
      title: 'List webhook deliveries',
      description: `Lists the deliveries to an endpoint with their latest attempts, newest event first. ${notInContract}`,
      input: ListWebhookDeliveriesInput,
      operation: listWebhookDeliveries,
      fields: {
        ...webhookIdField,
        status: 'Only deliveries with this status.',
        before: { type: 'integer', minimum: 1, description: 'Only deliveries of events before this `sequence`.' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 20,
          description: 'The maximum number of deliveries.',
        },
      },
      example: { webhookId: exampleId, limit: 2 },
      errors: ['RESOURCE_NOT_FOUND'],
      response: {
        data: member(
          ({ items }: DeliveriesPage) => items,
          listOf('The deliveries, newest event first.', deliveryResource),
        ),
        pagination: shape<DeliveriesPage>('Where to continue.', {
          limit: member(({ limit }) => limit, integer('The maximum number of deliveries.', 20)),
          before: nullable(
            ({ next }) => next,
            integer('The value of `before` for the next page; null on the last page.', 1200),
          ),
        }),
      },
    }),
  ],
}
