import { endpointRow } from '../modules/operators/actions/webhook-actions.ts'
import type { UnhealthyEndpoint } from '../modules/webhooks/endpoints/list.ts'
import { listUnhealthyEndpoints, webhookEndpoints } from '../modules/webhooks/endpoints/list.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { ageElement, numberColumn, statusBadge, valueOrEmpty } from './components.ts'
import type { PageRequest } from './console-page.ts'
import type { ListColumn } from './list-page.ts'
import { findOwnerNames, itemsTable, listPage, merchantLink } from './list-page.ts'

const maxUnhealthyEndpoints = 100

const endpointColumns: readonly ListColumn<UnhealthyEndpoint>[] = [
  {
    column: 'Endpoint',
    cell: ({ id, url }, { urlFor }) => html`<a href="${urlFor(`/webhooks/${id}`)}" title="${id}">${url}</a>`,
  },
  { column: 'State', cell: (endpoint) => endpointStatusBadge(endpoint) },
  { column: numberColumn('Consecutive failures'), cell: ({ failures }) => html`${failures}` },
  {
    column: 'Failing since',
    cell: ({ failingSince }, { now }) => (failingSince === null ? valueOrEmpty(null) : ageElement(failingSince, now)),
  },
  { column: 'Disabled', cell: ({ disabledReason }) => valueOrEmpty(disabledReason?.replace(/_/g, ' ')) },
  { column: 'Merchant', cell: merchantLink, names: 'merchant' },
]

export const webhooksPage = listPage({
  title: 'Webhooks',
  path: '/webhooks',
  noun: 'webhook endpoint',
  list: webhookEndpoints,
  filters: [],
  filterOf: () => ({}),
  columns: endpointColumns,
  record: endpointRow,
  empty: html`There is no webhook endpoint yet. A merchant creates one with <code>POST /api/webhooks</code> or the mutation <code>createWebhookEndpoint</code>.`,
  above: async (request) => {
    const unhealthy = await listUnhealthyEndpoints(request.service, maxUnhealthyEndpoints)
    return html`<p><a href="${request.urlFor('/webhooks/deliveries')}">Deliveries</a> to all endpoints</p>
<h2>Endpoints that fail</h2>
${await endpointsTable(request, unhealthy, 'No endpoint fails.')}<h2>Endpoints</h2>\n`
  },
})

export async function endpointsTable(
  request: PageRequest,
  items: readonly UnhealthyEndpoint[],
  empty: string,
): Promise<Html> {
  if (items.length === 0) return html`<p class="empty">${empty}</p>\n`
  const names = await findOwnerNames(request.service, items)
  return itemsTable({ title: 'Webhook endpoints', columns: endpointColumns }, request, { items, names })
}

export function endpointStatusBadge({
  status,
  failingSince,
}: Pick<UnhealthyEndpoint, 'status' | 'failingSince'>): Html {
  return statusBadge(status === 'enabled' && failingSince !== null ? 'failing' : status)
}
