import type { ListedDeposit } from '../modules/deposits/list.ts'
import { deposits } from '../modules/deposits/list.ts'
import { depositRow, depositStatus } from '../modules/operators/list-rows.ts'
import { html } from '../server/pages/html.ts'
import { ageElement, assetAmount, numberColumn, statusBadge, valueOrEmpty } from './components.ts'
import type { ListColumn } from './list-page.ts'
import { listPage, merchantLink, ownerFilter, ownerLink } from './list-page.ts'

const depositColumns: readonly ListColumn<ListedDeposit>[] = [
  {
    column: 'Deposit',
    cell: (deposit, { urlFor }) =>
      html`<a href="${urlFor(`/wallets/${deposit.walletId}`)}" title="${deposit.id}">${shortReference(deposit)}</a>`,
  },
  { column: 'Credited', cell: ({ createdAt }, { now }) => ageElement(createdAt, now) },
  { column: 'Status', cell: (deposit) => statusBadge(depositStatus(deposit)) },
  { column: numberColumn('Amount'), cell: ({ amount, assetCode }) => assetAmount(amount, assetCode) },
  {
    column: numberColumn('Balance after'),
    cell: ({ balanceAfter, assetCode }) => assetAmount(balanceAfter, assetCode),
  },
  { column: 'Network', cell: ({ network }) => valueOrEmpty(network) },
  { column: 'For', cell: ownerLink, names: 'customer' },
  { column: 'Merchant', cell: merchantLink, names: 'merchant' },
]

export const depositsPage = listPage({
  title: 'Deposits',
  path: '/deposits',
  noun: 'deposit',
  list: deposits,
  search: deposits.search,
  filters: [
    { name: 'asset', label: 'Currency', hint: 'USDC', field: 'assetCode' },
    { name: 'customer', label: 'Customer', hint: 'id', field: 'owner' },
  ],
  filterOf: ({ asset, customer }) => ({ assetCode: asset || undefined, owner: ownerFilter(customer) }),
  columns: depositColumns,
  record: depositRow,
  empty: html`There is no deposit yet. One is credited when a node reports it, or with <code>npm run -s cli -- deposit &lt;wallet id&gt; &lt;amount&gt;</code>.`,
  above: async ({ urlFor }) =>
    html`<p class="faint">Credited deposits. <a href="${urlFor('/attention')}">Attention</a> has those that need a decision; one with too few confirmations is not listed.</p>\n`,
})

function shortReference({ reference, txHash }: ListedDeposit): string {
  return txHash === null || txHash.length < 20 ? reference : `${txHash.slice(0, 8)}…${txHash.slice(-8)}`
}
