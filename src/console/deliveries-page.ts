import { timestamp } from '../core/ids-and-clock.ts'
import { deliveryRow } from '../modules/operators/list-rows.ts'
import type { EventObjectType } from '../modules/outbox/event.ts'
import { objectTypeOf } from '../modules/outbox/event.ts'
import type { WebhookDelivery } from '../modules/webhooks/endpoints/list-webhook-deliveries.ts'
import { deliveryStatuses } from '../modules/webhooks/endpoints/list-webhook-deliveries.ts'
import type { ListedDelivery } from '../modules/webhooks/endpoints/merchant-deliveries.ts'
import { merchantDeliveries } from '../modules/webhooks/endpoints/merchant-deliveries.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { ageElement, choices, emptyValue, numberColumn, statusBadge, timeElement } from './components.ts'
import type { CellContext } from './list-page.ts'
import { listPage, merchantLink } from './list-page.ts'
import { attemptOutcome } from './payout-steps.ts'

export const deliveriesPage = listPage({
  title: 'Webhook deliveries',
  path: '/webhooks/deliveries',
  noun: 'delivery',
  list: merchantDeliveries,
  isUncounted: true,
  filters: [
    { name: 'status', label: 'Status', options: choices(deliveryStatuses) },
    { name: 'endpoint', label: 'Endpoint', hint: 'id', field: 'endpointId' },
  ],
  filterOf: ({ status, endpoint }) => ({
    status: (status || undefined) as WebhookDelivery['status'] | undefined,
    endpointId: endpoint || undefined,
  }),
  columns: [
    { column: 'Event', cell: eventCell },
    { column: 'Time', cell: ({ createdAt }, { now }) => ageElement(createdAt, now) },
    { column: 'Status', cell: ({ status }) => statusBadge(status) },
    { column: numberColumn('Attempts'), cell: ({ attempts }) => html`${attempts}` },
    {
      column: 'Last attempt',
      cell: ({ lastAttempt }) => (lastAttempt === null ? emptyValue : html`${attemptOutcome(lastAttempt)}`),
    },
    {
      column: 'Next attempt',
      cell: ({ nextAttemptAt }) => timeElement(nextAttemptAt === null ? null : timestamp(Number(nextAttemptAt))),
    },
    {
      column: 'Endpoint',
      cell: ({ endpointId, url }, { urlFor }) => html`<a href="${urlFor(`/webhooks/${endpointId}`)}">${url}</a>`,
    },
    { column: 'Merchant', cell: merchantLink, names: 'merchant' },
  ],
  record: deliveryRow,
  empty: html`There is no delivery. One is listed from its first attempt, for 30 days.`,
})

const pagesOfObjects: Readonly<Partial<Record<EventObjectType, string>>> = {
  payout: '/payouts',
  wallet: '/wallets',
  customer: '/customers',
  webhook_endpoint: '/webhooks',
}

function eventCell({ eventType, objectId }: ListedDelivery, { urlFor }: CellContext): Html {
  const page = pagesOfObjects[objectTypeOf(eventType)]
  return page === undefined
    ? html`<span title="${objectId}">${eventType}</span>`
    : html`<a href="${urlFor(`${page}/${objectId}`)}" title="${objectId}">${eventType}</a>`
}
