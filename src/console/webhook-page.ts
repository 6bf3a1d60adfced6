import { timestamp } from '../core/ids-and-clock.ts'
import type { Merchant } from '../modules/merchants/merchant.ts'
import { findMerchant } from '../modules/merchants/merchant.ts'
import {
  disableWebhookAction,
  enableWebhookAction,
  replayEventAction,
  replayEventsAction,
  rotateWebhookSecretAction,
  testWebhookAction,
} from '../modules/operators/actions/webhook-actions.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { eventId } from '../modules/outbox/event.ts'
import { getWebhookEndpoint } from '../modules/webhooks/endpoints/get-webhook-endpoint.ts'
import type { WebhookAttempt, WebhookDelivery } from '../modules/webhooks/endpoints/list-webhook-deliveries.ts'
import { deliveryStatuses, listWebhookDeliveries } from '../modules/webhooks/endpoints/list-webhook-deliveries.ts'
import type { WebhookEndpoint } from '../modules/webhooks/endpoints/webhook-endpoint.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import {
  copyableId,
  descriptionList,
  filterForm,
  pager,
  statusBadge,
  table,
  timeElement,
  valueOrEmpty,
} from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'
import { operatorActionsOn } from './log-page.ts'
import { attemptOutcome } from './payout-steps.ts'
import { endpointStatusBadge } from './webhooks-page.ts'

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
  render: async (request) => {
    const { service, session, params, actionForm } = request
    const webhookId = params.webhookId ?? ''
    const context = await createOwnerContext(service, 'webhook', webhookId)
    const endpoint = await getWebhookEndpoint(context, { webhookId })
    const isEnabled = endpoint.status === 'enabled'
    const actions = isEnabled
      ? [replayEventsAction, testWebhookAction, rotateWebhookSecretAction, disableWebhookAction]
      : [enableWebhookAction, rotateWebhookSecretAction]
    return {
      title: 'Webhook endpoint',
      body: html`${endpointFacts(request, endpoint, await findMerchant(service.db, endpoint.merchantId))}
${session.can('act') ? html`<h2>Actions</h2>\n<div class="actions">${actions.map((action) => actionForm(action))}</div>` : ''}
<h2>Deliveries</h2>
${await endpointDeliveriesTable(request, context, isEnabled)}
${await operatorActionsOn(service, endpoint.id)}`,
    }
  },
}

function endpointFacts({ urlFor }: PageRequest, endpoint: WebhookEndpoint, merchant: Merchant): Html {
  return descriptionList([
    ['URL', html`${endpoint.url}`],
    ['State', endpointStatusBadge(endpoint)],
    ['Reason for disabling', valueOrEmpty(endpoint.disabledReason?.replace(/_/g, ' '))],
    ['Consecutive failures', html`${endpoint.failures}`],
    ['Failing since', timeElement(endpoint.failingSince)],
    ['Sent up to sequence', html`${endpoint.cursor}`],
    ['Events', html`${endpoint.types.length === 0 ? 'all' : endpoint.types.join(', ')}`],
    ['Format', html`${endpoint.format}`],
    ['Description', valueOrEmpty(endpoint.description)],
    ['Created', timeElement(endpoint.createdAt)],
    ['Merchant', html`<a href="${urlFor(`/merchants/${merchant.id}`)}">${merchant.name}</a>`],
    ['Id', copyableId(endpoint.id, 'the id')],
  ])
}

async function endpointDeliveriesTable(request: PageRequest, context: Context, isEnabled: boolean): Promise<Html> {
  const { query, session, params, actionForm } = request
  const { items, next } = await listWebhookDeliveries(context, {
    webhookId: params.webhookId ?? '',
    status: (query.status || undefined) as WebhookDelivery['status'] | undefined,
    before: query.before,
  })
  const rows = items.map((delivery) => [
    html`${delivery.eventType} <span class="faint">sequence ${delivery.sequence}, ${timeElement(timestamp(Number(delivery.eventTime)))}</span>`,
    statusBadge(delivery.status),
    attemptList(delivery),
    timeElement(delivery.nextAttemptAt === null ? null : timestamp(Number(delivery.nextAttemptAt))),
    isEnabled
      ? actionForm(replayEventAction, eventId({ ...delivery, time: delivery.eventTime }))
      : html`Enable the endpoint first.`,
  ])
  const columns = ['Event', 'Status', 'Attempts', 'Next attempt', session.can('act') && 'Actions']
  return html`${filterForm(request, [{ name: 'status', label: 'Status', options: deliveryStatuses.map((each) => [each, each]) }])}
${table('Deliveries', columns, rows, 'There are no deliveries, or they are no longer kept.')}${pager(request, { older: next === null ? null : { before: String(next) } })}`
}

export function attemptList({ log, attempts }: WebhookDelivery): Html {
  const older = attempts - log.length
  return html`${older > 0 ? html`<p class="faint">${older} older attempts are not kept.</p>` : ''}${log.map(attemptItem)}`
}

function attemptItem(attempt: WebhookAttempt): Html {
  const { attemptedAt, durationMs, answer } = attempt
  return html`<p>${timeElement(attemptedAt)} ${attemptOutcome(attempt)} after ${durationMs} ms${answer ? html` <code>${answer}</code>` : ''}</p>`
}
