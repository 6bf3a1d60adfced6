import { notFound } from '../core/errors.ts'
import { searchPayouts } from '../modules/operators/find-payout.ts'
import { payoutRow } from '../modules/operators/list-rows.ts'
import { payouts } from '../modules/payouts/list.ts'
import type { Payout } from '../modules/payouts/payout.ts'
import { payoutAssetCodes, payoutStatuses, recipientCurrencies } from '../modules/payouts/payout.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { ageElement, assetAmount, choices, fiatAmount, filterForm, numberColumn, statusBadge } from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'
import type { ListColumn } from './list-page.ts'
import { findOwnerNames, itemsTable, listPage, merchantLink, ownerFilter, ownerLink } from './list-page.ts'

export const payoutColumns: readonly ListColumn<Payout>[] = [
  {
    column: 'Payout',
    cell: ({ id, transactionId }, { urlFor }) =>
      html`<a href="${urlFor(`/payouts/${id}`)}" title="${id}"><code>${transactionId}</code></a>`,
  },
  { column: 'Created', cell: ({ createdAt }, { now }) => ageElement(createdAt, now) },
  { column: 'Status', cell: ({ status }) => statusBadge(status) },
  { column: numberColumn('Amount'), cell: ({ amount, assetCode }) => assetAmount(amount, assetCode) },
  {
    column: numberColumn('Pays out'),
    cell: ({ amountFiat, recipientCurrency }) => fiatAmount(amountFiat, recipientCurrency),
  },
  { column: 'To', cell: ({ recipientName }) => html`${recipientName}` },
  { column: 'Bank', cell: ({ bankName }) => html`${bankName}` },
  { column: 'For', cell: ownerLink, names: 'customer' },
  { column: 'Merchant', cell: merchantLink, names: 'merchant' },
]

const payoutTable = { title: 'Payouts', columns: payoutColumns }

const payoutList = listPage({
  ...payoutTable,
  path: '/payouts',
  noun: 'payout',
  list: payouts,
  filters: [
    { name: 'status', label: 'Status', options: choices(payoutStatuses) },
    { name: 'asset', label: 'From', options: choices(payoutAssetCodes) },
    { name: 'currency', label: 'To', options: choices(recipientCurrencies) },
    { name: 'customer', label: 'Customer', hint: 'id' },
    { name: 'wallet', label: 'Wallet', hint: 'id' },
  ],
  filterOf: ({ status, asset, currency, customer, wallet }) => ({
    status: (status || undefined) as Payout['status'] | undefined,
    assetCode: asset || undefined,
    recipientCurrency: currency || undefined,
    owner: ownerFilter(customer),
    walletId: wallet || undefined,
  }),
  record: payoutRow,
  empty: html`There is no payout yet. A merchant creates one with <code>POST /api/payouts/banks</code> or the mutation <code>createPayout</code>.`,
  above: async (request) => payoutSearchForm(request),
})

export const payoutsPage: ConsolePage = {
  ...payoutList,
  render: async (request) => {
    const { id } = request.query
    if (!id) return payoutList.render(request)
    return { title: 'Payouts', body: html`${payoutSearchForm(request)}${await payoutSearchResult(request, id)}` }
  },
}

function payoutSearchForm(request: PageRequest): Html {
  const hint = 'id, transaction id, reference id or idempotency key'
  return filterForm(request, [{ name: 'id', label: 'One payout', hint }], 'Find')
}

/** Lists the payouts of all merchants with an identifier; there are rarely several. */
async function payoutSearchResult(request: PageRequest, identifier: string): Promise<Html> {
  const items = await searchPayouts(request.service, identifier)
  if (items.length === 0) throw notFound('Payout')
  return itemsTable(payoutTable, request, { items, names: await findOwnerNames(request.service, items) })
}
