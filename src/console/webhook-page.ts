import { timestamp } from '../core/ids.ts'
import { contextOf } from '../modules/operators/find-merchant-of.ts'
import { eventId } from '../modules/outbox/event.ts'
import { getWebhookEndpoint } from '../modules/webhooks/endpoints/get-webhook-endpoint.ts'
import { listWebhookDeliveries } from '../modules/webhooks/endpoints/list-webhook-deliveries.ts'
import type { WebhookAttempt, WebhookDelivery } from '../modules/webhooks/endpoints/webhook-delivery.ts'
import { deliveryStatuses } from '../modules/webhooks/endpoints/webhook-delivery.ts'
import type { WebhookEndpoint } from '../modules/webhooks/endpoints/webhook-endpoint.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { facts, filters, id, orNothing, pager, status, table, time } from './components.ts'
import type { Asked, ConsolePage } from './console-page.ts'
import { doneTo } from './log-page.ts'
import {
  disableAction,
  enableAction,
  replayAction,
  replayOneAction,
  rotateAction,
  testAction,
} from './webhook-actions.ts'
import { stateOf } from './webhooks-page.ts'

/** One endpoint, what became of what was sent to it, and what can be sent again. */
export const webhookPage: ConsolePage = {
  path: '/webhooks/:webhookId',
  actions: [enableAction, disableAction, testAction, replayAction, replayOneAction, rotateAction],
  render: async (asked) => {
    const { service, params, form } = asked
    const webhookId = params.webhookId ?? ''
    const context = await contextOf(service, 'webhook', webhookId)
    const endpoint = await getWebhookEndpoint(context, { webhookId })
    const isEnabled = endpoint.status === 'enabled'
    const offered = isEnabled ? [replayAction, testAction, rotateAction, disableAction] : [enableAction, rotateAction]
    return {
      title: 'Webhook endpoint',
      body: html`${factsOf(asked, endpoint)}
<h2>What can be done</h2>
<div class="actions">${offered.map((action) => form(action))}</div>
<h2>Deliveries</h2>
${await deliveries(asked, context, isEnabled)}
${await doneTo(service, endpoint.id)}`,
    }
  },
}

function factsOf({ to }: Asked, endpoint: WebhookEndpoint): Html {
  return facts([
    ['URL', html`${endpoint.url}`],
    ['State', stateOf(endpoint)],
    ['Disabled because', orNothing(endpoint.disabledReason?.replace(/_/g, ' '))],
    ['Failures in a row', html`${endpoint.failures}`],
    ['Failing since', time(endpoint.failingSince)],
    ['Sent up to number', html`${endpoint.cursor}`],
    ['Events', html`${endpoint.types.length === 0 ? 'all' : endpoint.types.join(', ')}`],
    ['Form', html`${endpoint.format}`],
    ['Description', orNothing(endpoint.description)],
    ['Made', time(endpoint.createdAt)],
    ['Merchant', html`<a href="${to(`/merchants/${endpoint.merchantId}`)}"><code>${endpoint.merchantId}</code></a>`],
    ['Id', id(endpoint.id)],
  ])
}

async function deliveries(asked: Asked, context: Context, isEnabled: boolean): Promise<Html> {
  const { query, params, form } = asked
  const { items, next } = await listWebhookDeliveries(context, {
    webhookId: params.webhookId ?? '',
    status: (query.status || undefined) as WebhookDelivery['status'] | undefined,
    before: query.before,
  })
  const rows = items.map((delivery) => [
    html`${delivery.eventType} <span class="faint">number ${delivery.sequence}, ${time(timestamp(Number(delivery.eventTime)))}</span>`,
    status(delivery.status),
    attempts(delivery),
    time(delivery.nextAttemptAt === null ? null : timestamp(Number(delivery.nextAttemptAt))),
    isEnabled ? form(replayOneAction, eventId({ ...delivery, time: delivery.eventTime })) : html`Enable it first.`,
  ])
  const columns = ['Event', 'Status', 'Attempts', 'Next at', 'What can be done']
  return html`${filters(asked, [{ name: 'status', label: 'Status', options: deliveryStatuses.map((each) => [each, each]) }])}
${table('Deliveries', columns, rows, 'Nothing was sent, or what was sent is not kept any more.')}${pager(asked, { older: next === null ? null : { before: String(next) } })}`
}

/** Each attempt with what it was answered. */
export function attempts({ log, attempts }: WebhookDelivery): Html {
  const older = attempts - log.length
  return html`${older > 0 ? html`<p class="faint">${older} older ones are not kept.</p>` : ''}${log.map(attempt)}`
}

function attempt({ attemptedAt, durationMs, status: answered, error, answer }: WebhookAttempt): Html {
  const outcome = answered === null ? (error ?? 'no answer') : `answered with ${answered}`
  return html`<p>${time(attemptedAt)} ${outcome} after ${durationMs} ms${answer ? html` <code>${answer}</code>` : ''}</p>`
}
