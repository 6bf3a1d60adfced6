import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { webhookEndpoints } from '../webhooks/list.ts'
import type { TroubledEndpoint } from '../webhooks/list-troubled-endpoints.ts'
import { listTroubledEndpoints } from '../webhooks/list-troubled-endpoints.ts'
import type { Asked, ConsolePage } from './console-page.ts'
import { merchantChosen } from './merchant-choice.ts'
import { filters, link, orNothing, sliceAsked, slicePager, status, table, time } from './parts.ts'

const mostTroubled = 100

/** A merchant's webhook endpoints; before one is chosen, those of all merchants that fail. */
export const webhooksPage: ConsolePage = {
  path: '/webhooks',
  render: async (asked) => {
    const { context, filter } = await merchantChosen(asked)
    const troubled = await listTroubledEndpoints(asked.service, mostTroubled)
    const list = context ? await webhookEndpoints.slice(context, sliceAsked(asked)) : null
    return {
      title: 'Webhooks',
      body: html`<h2>Endpoints that fail</h2>
${endpointsTable(asked, troubled, 'No endpoint fails.')}
<h2>Endpoints of a merchant</h2>
${filters(asked, [filter])}
${list ? html`${endpointsTable(asked, list.items, 'It has no webhook endpoint.')}${slicePager(asked, list)}` : html`<p class="empty">Choose a merchant: its endpoints are listed then.</p>`}`,
    }
  },
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
