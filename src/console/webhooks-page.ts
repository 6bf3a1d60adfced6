import { listAcrossMerchants } from '../modules/operators/list-across-merchants.ts'
import type { UnhealthyEndpoint } from '../modules/webhooks/endpoints/list.ts'
import { listUnhealthyEndpoints, webhookEndpoints } from '../modules/webhooks/endpoints/list.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import {
  filterForm,
  pager,
  shortIdLink,
  sliceArgs,
  slicePager,
  statusBadge,
  table,
  timeElement,
  valueOrEmpty,
} from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'
import { chooseMerchant } from './merchants-page.ts'

const maxUnhealthyEndpoints = 100

export const webhooksPage: ConsolePage = {
  path: '/webhooks',
  render: async (request) => {
    const { context, filter } = await chooseMerchant(request)
    const unhealthy = await listUnhealthyEndpoints(request.service, maxUnhealthyEndpoints)
    return {
      title: 'Webhooks',
      body: html`<h2>Endpoints that fail</h2>
${endpointsTable(request, unhealthy, 'No endpoint fails.')}
<h2>Endpoints</h2>
${filterForm(request, [filter])}
${await endpointListSection(request, context)}`,
    }
  },
}

async function endpointListSection(request: PageRequest, context: Context | null): Promise<Html> {
  const empty = 'There is no webhook endpoint.'
  if (context !== null) {
    const slice = await webhookEndpoints.slice(context, sliceArgs(request))
    return html`${endpointsTable(request, slice.items, empty)}${slicePager(request, slice)}`
  }
  const all = { list: webhookEndpoints, filter: {} }
  const { items, next } = await listAcrossMerchants(request.service, all, { after: request.query.after || undefined })
  return html`${endpointsTable(request, items, empty)}${pager(request, { older: next === null ? null : { after: next } })}`
}

export function endpointsTable({ urlFor }: PageRequest, items: readonly UnhealthyEndpoint[], empty: string): Html {
  const rows = items.map((endpoint) => [
    html`<a href="${urlFor(`/webhooks/${endpoint.id}`)}">${endpoint.url}</a>`,
    endpointStatusBadge(endpoint),
    html`${endpoint.failures}`,
    timeElement(endpoint.failingSince),
    valueOrEmpty(endpoint.disabledReason?.replace(/_/g, ' ')),
    shortIdLink(urlFor(`/merchants/${endpoint.merchantId}`), endpoint.merchantId),
  ])
  return table(
    'Webhook endpoints',
    ['Endpoint', 'State', 'Consecutive failures', 'Failing since', 'Disabled', 'Merchant'],
    rows,
    empty,
  )
}

export function endpointStatusBadge({
  status,
  failingSince,
}: Pick<UnhealthyEndpoint, 'status' | 'failingSince'>): Html {
  return statusBadge(status === 'enabled' && failingSince !== null ? 'failing' : status)
}
