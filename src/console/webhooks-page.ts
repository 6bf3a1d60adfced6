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
import { chooseMerchant } from './merchant-choice.ts'

const maxTroubledEndpoints = 100

/** The webhook endpoints that fail, and those of a merchant or of all. */
export const webhooksPage: ConsolePage = {
  path: '/webhooks',
  render: async (asked) => {
    const { context, filter } = await chooseMerchant(asked)
    const troubled = await listUnhealthyEndpoints(asked.service, maxTroubledEndpoints)
    return {
      title: 'Webhooks',
      body: html`<h2>Endpoints that fail</h2>
${endpointsTable(asked, troubled, 'No endpoint fails.')}
<h2>Endpoints</h2>
${filterForm(asked, [filter])}
${await endpointListSection(asked, context)}`,
    }
  },
}

async function endpointListSection(asked: PageRequest, context: Context | null): Promise<Html> {
  const none = 'There is no webhook endpoint.'
  if (context !== null) {
    const slice = await webhookEndpoints.slice(context, sliceArgs(asked))
    return html`${endpointsTable(asked, slice.items, none)}${slicePager(asked, slice)}`
  }
  const all = { list: webhookEndpoints, filter: {} }
  const { items, next } = await listAcrossMerchants(asked.service, all, { after: asked.query.after || undefined })
  return html`${endpointsTable(asked, items, none)}${pager(asked, { older: next === null ? null : { after: next } })}`
}

/** Endpoints with how they do. */
export function endpointsTable({ urlFor: to }: PageRequest, items: readonly UnhealthyEndpoint[], empty: string): Html {
  const rows = items.map((endpoint) => [
    html`<a href="${to(`/webhooks/${endpoint.id}`)}">${endpoint.url}</a>`,
    endpointStatusBadge(endpoint),
    html`${endpoint.failures}`,
    timeElement(endpoint.failingSince),
    valueOrEmpty(endpoint.disabledReason?.replace(/_/g, ' ')),
    shortIdLink(to(`/merchants/${endpoint.merchantId}`), endpoint.merchantId),
  ])
  return table(
    'Webhook endpoints',
    ['Endpoint', 'State', 'Failures in a row', 'Failing since', 'Disabled', 'Merchant'],
    rows,
    empty,
  )
}

export function endpointStatusBadge({
  status: word,
  failingSince,
}: Pick<UnhealthyEndpoint, 'status' | 'failingSince'>): Html {
  return statusBadge(word === 'enabled' && failingSince !== null ? 'failing' : word)
}
