import { payoutRow } from '../modules/operators/list-rows.ts'
import { payouts } from '../modules/payouts/list.ts'
import type { Payout } from '../modules/payouts/payout.ts'
import { payoutAssetCodes, payoutStatuses, recipientCurrencies } from '../modules/payouts/payout.ts'
import { html } from '../server/pages/html.ts'
import { ageElement, assetAmount, choices, fiatAmount, numberColumn, statusBadge } from './components.ts'
import type { ListColumn } from './list-page.ts'
import { listPage, merchantLink, ownerFilter, ownerLink } from './list-page.ts'

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

export const payoutsPage = listPage({
  title: 'Payouts',
  columns: payoutColumns,
  path: '/payouts',
  noun: 'payout',
  list: payouts,
  search: payouts.search,
  filters: [
    { name: 'status', label: 'Status', options: choices(payoutStatuses) },
    { name: 'asset', label: 'From', options: choices(payoutAssetCodes), field: 'assetCode' },
    { name: 'currency', label: 'To', options: choices(recipientCurrencies), field: 'recipientCurrency' },
    { name: 'customer', label: 'Customer', hint: 'id', field: 'owner' },
    { name: 'wallet', label: 'Wallet', hint: 'id', field: 'walletId' },
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
})
