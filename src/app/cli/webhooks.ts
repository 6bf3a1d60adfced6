import type { Context, Done, Service } from '../../context.ts'
import { eventId } from '../../events/event.ts'
import { timestamp } from '../../ids.ts'
import { contextOf } from '../../operators/owner-of.ts'
import { createWebhookEndpoint } from '../../webhooks/create-webhook-endpoint.ts'
import { deleteWebhookEndpoint } from '../../webhooks/delete-webhook-endpoint.ts'
import { disableWebhookEndpoint } from '../../webhooks/disable-webhook-endpoint.ts'
import { enableWebhookEndpoint } from '../../webhooks/enable-webhook-endpoint.ts'
import { getWebhookEndpoint } from '../../webhooks/get-webhook-endpoint.ts'
import { webhookEndpoints } from '../../webhooks/list.ts'
import { listWebhookDeliveries } from '../../webhooks/list-webhook-deliveries.ts'
import { replayWebhookEvents } from '../../webhooks/replay-webhook-events.ts'
import { rotateWebhookSecret } from '../../webhooks/rotate-webhook-secret.ts'
import { testWebhookEndpoint } from '../../webhooks/test-webhook-endpoint.ts'
import { updateWebhookEndpoint } from '../../webhooks/update-webhook-endpoint.ts'
import type { WebhookAttempt, WebhookDelivery } from '../../webhooks/webhook-delivery.ts'
import type { WebhookEndpoint } from '../../webhooks/webhook-endpoint.ts'
import type { Command, Options } from './command.ts'
import { contextOfOne, listed, toFirstWord, toWhatIsMade, wholeNumber, word } from './command.ts'
import { listCommand } from './lists.ts'

const words = ['webhook id']
const details = { types: 'list', format: 'standard, thin or stablestack', description: 'text' }

/** What operators do with the endpoints of webhooks. */
export const webhookCommands: Readonly<Record<string, Command>> = {
  'webhook create': {
    changes: toWhatIsMade,
    summary:
      'Registers a webhook endpoint and shows its secret, once; types are separated by commas, and without any it gets all.',
    words: ['url'],
    options: { merchant: 'merchant id', ...details },
    flags: ['asymmetric'],
    run: async (service, words, options) => {
      const context = await contextOfOne(service, options)
      const input = { url: word(words, 0), ...detailsOf(options), asymmetric: options.asymmetric !== undefined }
      const { result } = await createWebhookEndpoint(context, input)
      return { ...told(result), secret: result.secret }
    },
  },
  'webhook list': listCommand({
    noun: 'webhookEndpoints',
    summary: 'Lists the webhook endpoints of a merchant or of all, newest first.',
    list: webhookEndpoints,
    filtersOf: () => ({}),
    row: ({ id, url, types, format, status, disabledReason, failures, createdAt }: WebhookEndpoint) => {
      return { id, url, types: types.join(' '), format, status, disabledReason, failures, createdAt }
    },
  }),
  'webhook show': {
    changes: 'nothing',
    summary: 'Shows a webhook endpoint, without its secret.',
    words,
    run: (service, words) =>
      named(service, words, async (context, webhookId) => told(await getWebhookEndpoint(context, { webhookId }))),
  },
  'webhook update': {
    changes: toFirstWord,
    summary: 'Changes what is given of a webhook endpoint; an empty list of types means all.',
    words,
    options: { url: 'url', ...details },
    run: (service, words, options) =>
      changed(service, words, (context, webhookId) =>
        updateWebhookEndpoint(context, { webhookId, url: options.url, ...detailsOf(options) }),
      ),
  },
  'webhook delete': {
    changes: toFirstWord,
    summary: 'Deletes a webhook endpoint for good.',
    words,
    run: (service, words) =>
      changed(service, words, (context, webhookId) => deleteWebhookEndpoint(context, { webhookId })),
  },
  'webhook rotate': {
    changes: toFirstWord,
    summary: 'Gives a webhook endpoint a new secret and shows it, once; the old one signs for another 24 hours.',
    words,
    options: { overlap: 'hours' },
    names: { overlapHours: '--overlap' },
    run: (service, words, { overlap }) =>
      named(service, words, async (context, webhookId) => {
        const overlapHours = overlap === undefined ? undefined : wholeNumber('overlap', overlap)
        const { result } = await rotateWebhookSecret(context, { webhookId, overlapHours })
        return { ...told(result), secret: result.secret }
      }),
  },
  'webhook test': {
    changes: toFirstWord,
    summary: 'Has a webhook endpoint tried: "webhook deliveries" shows what became of it.',
    words,
    run: (service, words) =>
      changed(service, words, (context, webhookId) => testWebhookEndpoint(context, { webhookId })),
  },
  'webhook enable': {
    changes: toFirstWord,
    summary: 'Enables a webhook endpoint: from where it was, from now on, or with all events after a sequence.',
    words,
    options: { from: 'resume or now', after: 'sequence' },
    run: (service, words, { from, after }) =>
      changed(service, words, (context, webhookId) =>
        enableWebhookEndpoint(context, { webhookId, from: from as 'now', after: sequence(after) }),
      ),
  },
  'webhook disable': {
    changes: toFirstWord,
    summary: 'Stops what is sent to a webhook endpoint until it is enabled.',
    words,
    run: (service, words) =>
      changed(service, words, (context, webhookId) => disableWebhookEndpoint(context, { webhookId })),
  },
  'webhook replay': {
    changes: toFirstWord,
    summary: 'Sends one event to a webhook endpoint again, or all after a sequence or since a time.',
    words,
    options: { event: 'event id', after: 'sequence', since: 'time' },
    names: { eventId: '--event' },
    run: (service, words, { event, after, since }) =>
      changed(service, words, (context, webhookId) =>
        replayWebhookEvents(context, { webhookId, eventId: event, after: sequence(after), since }),
      ),
  },
  'webhook deliveries': {
    changes: 'nothing',
    summary:
      'Lists what became of events that were sent to a webhook endpoint, newest first, with the latest attempts.',
    words,
    options: { status: 'pending, delivered or exhausted', before: 'sequence', limit: 'number' },
    run: (service, words, { status, before, limit }) =>
      named(service, words, async (context, webhookId) => {
        const input = { webhookId, status: status as 'pending', before, limit }
        const { items, next } = await listWebhookDeliveries(context, input)
        return { deliveries: items.map(deliveryRow), next }
      }),
  },
}

async function named<Result>(
  service: Service,
  words: readonly string[],
  run: (context: Context, webhookId: string) => Promise<Result>,
): Promise<Result> {
  const webhookId = word(words, 0)
  return run(await contextOf(service, 'webhook', webhookId), webhookId)
}

function changed(
  service: Service,
  words: readonly string[],
  run: (context: Context, webhookId: string) => Promise<Done<WebhookEndpoint>>,
) {
  return named(service, words, async (context, webhookId) => told((await run(context, webhookId)).result))
}

function detailsOf({ types, format, description }: Options) {
  return { types: listed(types)?.filter(Boolean), format: format as 'thin', description }
}

function sequence(text: string | undefined): number | undefined {
  return text === undefined ? undefined : wholeNumber('after', text)
}

/** An endpoint for people; its own number among the merchant's says nothing to them. */
function told({ merchantId: _, sequence: __, probeAt: ___, cursor, types, ...endpoint }: WebhookEndpoint) {
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
