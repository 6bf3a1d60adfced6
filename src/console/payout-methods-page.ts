import { payoutMethodRow } from '../modules/operators/list-rows.ts'
import { payoutMethods } from '../modules/payout-methods/list.ts'
import type { PayoutMethod } from '../modules/payout-methods/payout-method.ts'
import { payoutMethodTypes } from '../modules/payout-methods/payout-method.ts'
import { html } from '../server/pages/html.ts'
import { ageElement, choices, idElement, valueOrEmpty } from './components.ts'
import type { ListColumn } from './list-page.ts'
import { listPage, merchantLink, ownerFilter, ownerLink } from './list-page.ts'

export const payoutMethodColumns: readonly ListColumn<PayoutMethod>[] = [
  {
    column: 'Account or address',
    cell: ({ accountNumber, walletAddress }) => idElement(accountNumber ?? walletAddress),
  },
  { column: 'Name', cell: ({ accountName, label }) => valueOrEmpty(accountName ?? label) },
  { column: 'Bank or network', cell: ({ bankName, network }) => valueOrEmpty(bankName ?? network) },
  { column: 'Currency', cell: ({ currency }) => html`${currency}` },
  { column: 'Owner', cell: ownerLink, names: 'customer' },
  { column: 'Created', cell: ({ createdAt }, { now }) => ageElement(createdAt, now) },
  { column: 'Merchant', cell: merchantLink, names: 'merchant' },
]

export const payoutMethodsPage = listPage({
  title: 'Payout methods',
  path: '/payout-methods',
  noun: 'payout method',
  list: payoutMethods,
  filters: [
    { name: 'type', label: 'Type', options: choices(payoutMethodTypes) },
    { name: 'currency', label: 'Currency', hint: 'NGN' },
    { name: 'customer', label: 'Customer', hint: 'id', field: 'owner' },
  ],
  filterOf: ({ type, currency, customer }) => ({
    type: (type || undefined) as PayoutMethod['type'] | undefined,
    currency: currency || undefined,
    owner: ownerFilter(customer),
  }),
  columns: payoutMethodColumns,
  record: payoutMethodRow,
  empty: html`There is no payout method yet. A merchant creates one with <code>POST /api/payout/methods/banks</code> or <code>/wallets</code>.`,
})
