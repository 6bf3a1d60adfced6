import { timestamp } from '../core/ids-and-clock.ts'
import { splitList } from '../modules/operators/actions/action-declaration.ts'
import {
  disableWebhookAction,
  enableWebhookAction,
  endpointRow,
  replayEventsAction,
  rotateWebhookSecretAction,
  testWebhookAction,
} from '../modules/operators/actions/webhook-actions.ts'
import { deliveryRow as listedDeliveryRow } from '../modules/operators/list-rows.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { eventId } from '../modules/outbox/event.ts'
import { createWebhookEndpoint } from '../modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { deleteWebhookEndpoint } from '../modules/webhooks/endpoints/delete-webhook-endpoint.ts'
import { getWebhookEndpoint } from '../modules/webhooks/endpoints/get-webhook-endpoint.ts'
import { webhookEndpoints } from '../modules/webhooks/endpoints/list.ts'
import type { WebhookAttempt, WebhookDelivery } from '../modules/webhooks/endpoints/list-webhook-deliveries.ts'
import { listWebhookDeliveries } from '../modules/webhooks/endpoints/list-webhook-deliveries.ts'
import { merchantDeliveries } from '../modules/webhooks/endpoints/merchant-deliveries.ts'
import { updateWebhookEndpoint } from '../modules/webhooks/endpoints/update-webhook-endpoint.ts'
import type { WebhookEndpoint } from '../modules/webhooks/endpoints/webhook-endpoint.ts'
import type { Context, IdempotentResult, Service } from '../operations/context.ts'
import type { CommandTable, OptionValues } from './command.ts'
import { actionCommands, requireMerchantContext, subjectFromCreated, subjectFromFirstWord, wordAt } from './command.ts'
import type { TextColumns } from './format-text.ts'
import { listCommand, sliceOptions } from './list-commands.ts'

const words = ['webhook id']
const detailOptions = {
  types: ['list', 'event types, separated by commas; all if empty'],
  format: ['format', 'standard, thin or stablestack'],
  description: 'text',
} as const

const endpointColumns: TextColumns = {
  id: { priority: 1 },
  url: { priority: 2 },
  status: { priority: 3 },
  types: { priority: 5 },
  failures: { priority: 4 },
}

const deliveryColumns: TextColumns = {
  sequence: { align: 'left', priority: 1 },
  status: { priority: 2 },
  eventType: { header: 'type', priority: 3 },
  nextAttemptAt: { header: 'next attempt', priority: 4 },
  attempts: { priority: 5, isWrapped: true },
}

const listedDeliveryColumns: TextColumns = {
  createdAt: { header: 'time', priority: 3 },
  eventType: { header: 'type', priority: 1 },
  status: { priority: 2 },
  attempts: { priority: 6 },
  responseStatus: { header: 'response', priority: 5, align: 'left' },
  error: { priority: 7 },
  url: { priority: 4 },
}

export const webhookCommands: CommandTable = {
  'webhook create': {
    changes: subjectFromCreated,
    summary: 'Register a webhook endpoint. Shows its secret once.',
    words: ['url'],
    options: { merchant: ['merchant id', 'required if there are several'], ...detailOptions },
    flags: { asymmetric: 'also sign with a key pair' },
    run: async (service, words, options) => {
      const context = await requireMerchantContext(service, options)
      const input = { url: wordAt(words, 0), ...parseDetails(options), asymmetric: options.asymmetric !== undefined }
      const { result } = await createWebhookEndpoint(context, input)
      return endpointRow(result)
    },
  },
  'webhook list': listCommand({
    noun: 'webhookEndpoints',
    summary: 'List webhook endpoints, newest first.',
    list: webhookEndpoints,
    columns: endpointColumns,
    filtersOf: () => ({}),
    row: ({ id, url, types, format, status, disabledReason, failures, createdAt }: WebhookEndpoint) => {
      return { id, url, types: types.join(' '), format, status, disabledReason, failures, createdAt }
    },
  }),
  'webhook show': {
    changes: 'nothing',
    summary: 'Show a webhook endpoint without its secret.',
    words,
    run: (service, words) =>
      withWebhookContext(service, words, async (context, webhookId) =>
        endpointRow(await getWebhookEndpoint(context, { webhookId })),
      ),
  },
  'webhook update': {
    changes: subjectFromFirstWord,
    summary: 'Change a webhook endpoint. Settings whose option is missing stay unchanged.',
    words,
    options: { url: 'url', ...detailOptions },
    run: (service, words, options) =>
      changeEndpoint(service, words, (context, webhookId) =>
        updateWebhookEndpoint(context, { webhookId, url: options.url, ...parseDetails(options) }),
      ),
  },
  'webhook delete': {
    changes: subjectFromFirstWord,
    summary: 'Delete a webhook endpoint permanently.',
    words,
    run: (service, words) =>
      changeEndpoint(service, words, (context, webhookId) => deleteWebhookEndpoint(context, { webhookId })),
  },
  ...actionCommands(
    rotateWebhookSecretAction,
    testWebhookAction,
    enableWebhookAction,
    disableWebhookAction,
    replayEventsAction,
  ),
  'delivery list': listCommand({
    noun: 'deliveries',
    summary: 'List webhook deliveries to all endpoints, newest event first. Includes the latest attempt of each.',
    options: {
      webhook: ['webhook id', 'to this endpoint only'],
      status: ['status', 'pending, delivered or exhausted'],
    },
    names: { endpointId: '--webhook' },
    list: merchantDeliveries,
    filtersOf: ({ webhook, status }) => ({ endpointId: webhook, status: status as 'pending' }),
    row: listedDeliveryRow,
    columns: listedDeliveryColumns,
  }),
  'webhook deliveries': {
    changes: 'nothing',
    summary: 'List deliveries to a webhook endpoint, newest first. Includes the latest attempts.',
    words,
    columns: deliveryColumns,
    options: {
      status: ['status', 'pending, delivered or exhausted'],
      before: ['sequence', 'continue before this "next" of an earlier list'],
      limit: sliceOptions.limit,
    },
    run: (service, words, { status, before, limit }) =>
      withWebhookContext(service, words, async (context, webhookId) => {
        const input = { webhookId, status: status as 'pending', before, limit }
        const { items, next } = await listWebhookDeliveries(context, input)
        return { deliveries: items.map(deliveryRow), next }
      }),
  },
}

async function withWebhookContext<Result>(
  service: Service,
  words: readonly string[],
  run: (context: Context, webhookId: string) => Promise<Result>,
): Promise<Result> {
  const webhookId = wordAt(words, 0)
  return run(await createOwnerContext(service, 'webhook', webhookId), webhookId)
}

function changeEndpoint(
  service: Service,
  words: readonly string[],
  run: (context: Context, webhookId: string) => Promise<IdempotentResult<WebhookEndpoint>>,
) {
  return withWebhookContext(service, words, async (context, webhookId) =>
    endpointRow((await run(context, webhookId)).result),
  )
}

function parseDetails({ types, format, description }: OptionValues) {
  return { types: splitList(types)?.filter(Boolean), format: format as 'thin', description }
}

function deliveryRow(delivery: WebhookDelivery) {
  const { sequence, eventType, status, nextAttemptAt, log } = delivery
  return {
    sequence,
    eventId: eventId({ ...delivery, time: delivery.eventTime }),
    eventType,
    status,
    nextAttemptAt: nextAttemptAt === null ? null : timestamp(Number(nextAttemptAt)),
    attempts: log.map(attemptRow),
  }
}

function attemptRow({ attemptedAt, durationMs, status, error, answer }: WebhookAttempt) {
  return { attemptedAt, durationMs, status, error, answer }
}
