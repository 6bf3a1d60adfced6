import { searchAcrossMerchants, searchRow } from '../modules/operators/search-across-merchants.ts'
import type { SearchHit } from '../modules/search/search.ts'
import { html } from '../server/pages/html.ts'
import { table, timeElement } from './components.ts'
import type { ConsolePage, FormValues } from './console-page.ts'
import { searchPath } from './layout.ts'
import { findOwnerNames } from './list-page.ts'

const typeLabels: Record<SearchHit['type'], string> = {
  payout: 'Payout',
  customer: 'Customer',
  wallet: 'Wallet',
  payoutMethod: 'Payout method',
  deposit: 'Deposit',
}

/** If there is only one match or only one exact match, redirects to the page of the match. */
export const searchPage: ConsolePage = {
  path: searchPath,
  render: async ({ service, query, urlFor }) => {
    const { hits, hasMore } = await searchAcrossMerchants(service, { term: query.term ?? '', first: 50 })
    const exact = hits.filter(({ isExact }) => isExact)
    const [only] = exact.length > 0 ? exact : hits
    const isOnly = exact.length === 1 || hits.length === 1
    const names = await findOwnerNames(
      service,
      hits.map(({ row: { merchantId } }) => ({ merchantId })),
    )
    const rows = hits.map((hit) => {
      const { description, createdAt, merchantId } = searchRow(hit)
      return [
        html`${typeLabels[hit.type]}`,
        html`<a href="${urlFor(...pageOf(hit))}">${description}</a>`,
        html`<a href="${urlFor(`/merchants/${merchantId}`)}">${names.get(merchantId) ?? merchantId}</a>`,
        timeElement(createdAt),
      ]
    })
    const empty = 'Nothing matches. Type a whole identifier, or the beginning of a customer’s name.'
    return {
      title: 'Search',
      body: html`${table('Results', ['Type', 'Match', 'Merchant', 'Created'], rows, empty)}${hasMore ? html`<p>More than ${hits.length} match. Type more of the name, or another identifier.</p>` : ''}`,
      ...(only && isOnly && { redirect: urlFor(...pageOf(only)) }),
    }
  },
}

function pageOf(hit: SearchHit): readonly [path: string, query?: FormValues] {
  switch (hit.type) {
    case 'payout':
      return [`/payouts/${hit.row.id}`]
    case 'customer':
      return [`/customers/${hit.row.id}`]
    case 'wallet':
      return [`/wallets/${hit.row.id}`]
    case 'deposit':
      return [`/wallets/${hit.row.walletId}`]
    // A payout method has no page.
    case 'payoutMethod':
      return hit.row.customerId === null
        ? ['/payout-methods', { merchant: hit.row.merchantId }]
        : [`/customers/${hit.row.customerId}`]
  }
}
