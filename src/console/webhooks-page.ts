import { listAcrossMerchants } from '../modules/operators/list-across-merchants.ts'
import { webhookEndpoints } from '../modules/webhooks/endpoints/list.ts'
import type { TroubledEndpoint } from '../modules/webhooks/endpoints/list-troubled-endpoints.ts'
import { listTroubledEndpoints } from '../modules/webhooks/endpoints/list-troubled-endpoints.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { filters, link, orNothing, pager, sliceAsked, slicePager, status, table, time } from './components.ts'
import type { Asked, ConsolePage } from './console-page.ts'
import { merchantChosen } from './merchant-choice.ts'

const mostTroubled = 100

/** The webhook endpoints that fail, and those of a merchant or of all. */
export const webhooksPage: ConsolePage = {
  path: '/webhooks',
  render: async (asked) => {
    const { context, filter } = await merchantChosen(asked)
    const troubled = await listTroubledEndpoints(asked.service, mostTroubled)
    return {
      title: 'Webhooks',
      body: html`<h2>Endpoints that fail</h2>
${endpointsTable(asked, troubled, 'No endpoint fails.')}
<h2>Endpoints</h2>
${filters(asked, [filter])}
${await endpointsOf(asked, context)}`,
    }
  },
}

async function endpointsOf(asked: Asked, context: Context | null): Promise<Html> {
  const none = 'There is no webhook endpoint.'
  if (context !== null) {
    const slice = await webhookEndpoints.slice(context, sliceAsked(asked))
    return html`${endpointsTable(asked, slice.items, none)}${slicePager(asked, slice)}`
  }
  const all = { list: webhookEndpoints, filter: {} }
  const { items, next } = await listAcrossMerchants(asked.service, all, { after: asked.query.after || undefined })
  return html`${endpointsTable(asked, items, none)}${pager(asked, { older: next === null ? null : { after: next } })}`
}

/** Endpoints with how they do. */
export function endpointsTable({ to }: Asked, items: readonly TroubledEndpoint[], empty: string): Html {
  const rows = items.map((endpoint) => [
    html`<a href="${to(`/webhooks/${endpoint.id}`)}">${endpoint.url}</a>`,
    stateOf(endpoint),
    html`${endpoint.failures}`,
    time(endpoint.failingSince),
    orNothing(endpoint.disabledReason?.replace(/_/g, ' ')),
    link(to(`/merchants/${endpoint.merchantId}`), endpoint.merchantId),
  ])
  return table(
    'Webhook endpoints',
    ['Endpoint', 'State', 'Failures in a row', 'Failing since', 'Disabled', 'Merchant'],
    rows,
    empty,
  )
}

export function stateOf({ status: word, failingSince }: Pick<TroubledEndpoint, 'status' | 'failingSince'>): Html {
  return status(word === 'enabled' && failingSince !== null ? 'failing' : word)
}
