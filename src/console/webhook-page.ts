import { timestamp } from '../core/ids-and-clock.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { eventId } from '../modules/outbox/event.ts'
import { getWebhookEndpoint } from '../modules/webhooks/endpoints/get-webhook-endpoint.ts'
import { listWebhookDeliveries } from '../modules/webhooks/endpoints/list-webhook-deliveries.ts'
import type { WebhookAttempt, WebhookDelivery } from '../modules/webhooks/endpoints/webhook-delivery.ts'
import { deliveryStatuses } from '../modules/webhooks/endpoints/webhook-delivery.ts'
import type { WebhookEndpoint } from '../modules/webhooks/endpoints/webhook-endpoint.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import {
  descriptionList,
  filterForm,
  idElement,
  pager,
  statusBadge,
  table,
  timeElement,
  valueOrEmpty,
} from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'
import { operatorActionsOn } from './log-page.ts'
import {
  disableWebhookAction,
  enableWebhookAction,
  replayEventAction,
  replayEventsAction,
  rotateWebhookSecretAction,
  testWebhookAction,
} from './webhook-actions.ts'
import { endpointStatusBadge } from './webhooks-page.ts'

/** One endpoint, what became of what was sent to it, and what can be sent again. */
export const webhookPage: ConsolePage = {
  path: '/webhooks/:webhookId',
  actions: [
    enableWebhookAction,
    disableWebhookAction,
    testWebhookAction,
    replayEventsAction,
    replayEventAction,
    rotateWebhookSecretAction,
  ],
  render: async (asked) => {
    const { service, params, actionForm: form } = asked
    const webhookId = params.webhookId ?? ''
    const context = await createOwnerContext(service, 'webhook', webhookId)
    const endpoint = await getWebhookEndpoint(context, { webhookId })
    const isEnabled = endpoint.status === 'enabled'
    const offered = isEnabled
      ? [replayEventsAction, testWebhookAction, rotateWebhookSecretAction, disableWebhookAction]
      : [enableWebhookAction, rotateWebhookSecretAction]
    return {
      title: 'Webhook endpoint',
      body: html`${endpointFacts(asked, endpoint)}
<h2>What can be done</h2>
<div class="actions">${offered.map((action) => form(action))}</div>
<h2>Deliveries</h2>
${await endpointDeliveriesTable(asked, context, isEnabled)}
${await operatorActionsOn(service, endpoint.id)}`,
    }
  },
}

function endpointFacts({ urlFor: to }: PageRequest, endpoint: WebhookEndpoint): Html {
  return descriptionList([
    ['URL', html`${endpoint.url}`],
    ['State', endpointStatusBadge(endpoint)],
    ['Disabled because', valueOrEmpty(endpoint.disabledReason?.replace(/_/g, ' '))],
    ['Failures in a row', html`${endpoint.failures}`],
    ['Failing since', timeElement(endpoint.failingSince)],
    ['Sent up to number', html`${endpoint.cursor}`],
    ['Events', html`${endpoint.types.length === 0 ? 'all' : endpoint.types.join(', ')}`],
    ['Form', html`${endpoint.format}`],
    ['Description', valueOrEmpty(endpoint.description)],
    ['Made', timeElement(endpoint.createdAt)],
    ['Merchant', html`<a href="${to(`/merchants/${endpoint.merchantId}`)}"><code>${endpoint.merchantId}</code></a>`],
    ['Id', idElement(endpoint.id)],
  ])
}

async function endpointDeliveriesTable(asked: PageRequest, context: Context, isEnabled: boolean): Promise<Html> {
  const { query, params, actionForm: form } = asked
  const { items, next } = await listWebhookDeliveries(context, {
    webhookId: params.webhookId ?? '',
    status: (query.status || undefined) as WebhookDelivery['status'] | undefined,
    before: query.before,
  })
  const rows = items.map((delivery) => [
    html`${delivery.eventType} <span class="faint">number ${delivery.sequence}, ${timeElement(timestamp(Number(delivery.eventTime)))}</span>`,
    statusBadge(delivery.status),
    attemptList(delivery),
    timeElement(delivery.nextAttemptAt === null ? null : timestamp(Number(delivery.nextAttemptAt))),
    isEnabled ? form(replayEventAction, eventId({ ...delivery, time: delivery.eventTime })) : html`Enable it first.`,
  ])
  const columns = ['Event', 'Status', 'Attempts', 'Next at', 'What can be done']
  return html`${filterForm(asked, [{ name: 'status', label: 'Status', options: deliveryStatuses.map((each) => [each, each]) }])}
${table('Deliveries', columns, rows, 'Nothing was sent, or what was sent is not kept any more.')}${pager(asked, { older: next === null ? null : { before: String(next) } })}`
}

/** Each attempt with what it was answered. */
export function attemptList({ log, attempts }: WebhookDelivery): Html {
  const older = attempts - log.length
  return html`${older > 0 ? html`<p class="faint">${older} older ones are not kept.</p>` : ''}${log.map(attemptItem)}`
}

function attemptItem({ attemptedAt, durationMs, status: answered, error, answer }: WebhookAttempt): Html {
  const outcome = answered === null ? (error ?? 'no answer') : `answered with ${answered}`
  return html`<p>${timeElement(attemptedAt)} ${outcome} after ${durationMs} ms${answer ? html` <code>${answer}</code>` : ''}</p>`
}
