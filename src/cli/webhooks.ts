import { timestamp } from '../core/ids-and-clock.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { eventId } from '../modules/outbox/event.ts'
import { createWebhookEndpoint } from '../modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { deleteWebhookEndpoint } from '../modules/webhooks/endpoints/delete-webhook-endpoint.ts'
import { disableWebhookEndpoint } from '../modules/webhooks/endpoints/disable-webhook-endpoint.ts'
import { enableWebhookEndpoint } from '../modules/webhooks/endpoints/enable-webhook-endpoint.ts'
import { getWebhookEndpoint } from '../modules/webhooks/endpoints/get-webhook-endpoint.ts'
import { webhookEndpoints } from '../modules/webhooks/endpoints/list.ts'
import { listWebhookDeliveries } from '../modules/webhooks/endpoints/list-webhook-deliveries.ts'
import { replayWebhookEvents } from '../modules/webhooks/endpoints/replay-webhook-events.ts'
import { rotateWebhookSecret } from '../modules/webhooks/endpoints/rotate-webhook-secret.ts'
import { testWebhookEndpoint } from '../modules/webhooks/endpoints/test-webhook-endpoint.ts'
import { updateWebhookEndpoint } from '../modules/webhooks/endpoints/update-webhook-endpoint.ts'
import type { WebhookAttempt, WebhookDelivery } from '../modules/webhooks/endpoints/webhook-delivery.ts'
import type { WebhookEndpoint } from '../modules/webhooks/endpoints/webhook-endpoint.ts'
import type { Context, IdempotentResult, Service } from '../operations/context.ts'
import type { Command, OptionValues } from './command.ts'
import {
  parseWholeNumber,
  requireMerchantContext,
  splitList,
  subjectFromCreated,
  subjectFromFirstWord,
  wordAt,
} from './command.ts'
import { listCommand, sliceOptions } from './list-commands.ts'
import type { TextColumns } from './table.ts'

const words = ['webhook id']
const detailOptions = {
  types: ['list', 'event types, separated by commas; all where it is empty'],
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

/** What operators do with the endpoints of webhooks. */
export const webhookCommands: Readonly<Record<string, Command>> = {
  'webhook create': {
    changes: subjectFromCreated,
    summary: 'Register a webhook endpoint. Shows its secret, once.',
    words: ['url'],
    options: { merchant: ['merchant id', 'required where there are several'], ...detailOptions },
    flags: { asymmetric: 'also sign with a key pair' },
    run: async (service, words, options) => {
      const context = await requireMerchantContext(service, options)
      const input = { url: wordAt(words, 0), ...parseDetails(options), asymmetric: options.asymmetric !== undefined }
      const { result } = await createWebhookEndpoint(context, input)
      return { ...endpointRow(result), secret: result.secret }
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
    summary: 'Show a webhook endpoint. Leaves out its secret.',
    words,
    run: (service, words) =>
      withWebhookContext(service, words, async (context, webhookId) =>
        endpointRow(await getWebhookEndpoint(context, { webhookId })),
      ),
  },
  'webhook update': {
    changes: subjectFromFirstWord,
    summary: 'Change a webhook endpoint. Options that are not given stay as they are.',
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
  'webhook rotate': {
    changes: subjectFromFirstWord,
    summary: 'Replace the secret of a webhook endpoint. Shows the new one, once. Both sign until the overlap is over.',
    words,
    options: { overlap: ['hours', 'how long the old one signs too, 24 unless given'] },
    names: { overlapHours: '--overlap' },
    run: (service, words, { overlap }) =>
      withWebhookContext(service, words, async (context, webhookId) => {
        const overlapHours = overlap === undefined ? undefined : parseWholeNumber('overlap', overlap)
        const { result } = await rotateWebhookSecret(context, { webhookId, overlapHours })
        return { ...endpointRow(result), secret: result.secret }
      }),
  },
  'webhook test': {
    changes: subjectFromFirstWord,
    summary: 'Send a test event to a webhook endpoint. "webhook deliveries" shows the outcome.',
    words,
    run: (service, words) =>
      changeEndpoint(service, words, (context, webhookId) => testWebhookEndpoint(context, { webhookId })),
  },
  'webhook enable': {
    changes: subjectFromFirstWord,
    summary: 'Enable a webhook endpoint. Resumes where it stopped, unless an option says otherwise.',
    words,
    options: { from: ['start', 'resume or now'], after: ['sequence', 'send all events after this one'] },
    run: (service, words, { from, after }) =>
      changeEndpoint(service, words, (context, webhookId) =>
        enableWebhookEndpoint(context, { webhookId, from: from as 'now', after: parseSequence(after) }),
      ),
  },
  'webhook disable': {
    changes: subjectFromFirstWord,
    summary: 'Disable a webhook endpoint. Sends nothing to it until it is enabled.',
    words,
    run: (service, words) =>
      changeEndpoint(service, words, (context, webhookId) => disableWebhookEndpoint(context, { webhookId })),
  },
  'webhook replay': {
    changes: subjectFromFirstWord,
    summary: 'Send events to a webhook endpoint again. Requires one of --event, --after and --since.',
    words,
    options: {
      event: ['event id', 'this event'],
      after: ['sequence', 'all events after this one'],
      since: ['time', 'all events since then'],
    },
    names: { eventId: '--event' },
    run: (service, words, { event, after, since }) =>
      changeEndpoint(service, words, (context, webhookId) =>
        replayWebhookEvents(context, { webhookId, eventId: event, after: parseSequence(after), since }),
      ),
  },
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

function parseSequence(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseWholeNumber('after', text)
}

/** An endpoint for people; its own number among the merchant's says nothing to them. */
function endpointRow({ merchantId: _, sequence: __, probeAt: ___, cursor, types, ...endpoint }: WebhookEndpoint) {
  return { ...endpoint, types: types.join(' '), sentUpTo: cursor }
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
