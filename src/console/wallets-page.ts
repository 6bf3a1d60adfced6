import { assetTypes } from '../modules/asset-codes/asset-code.ts'
import { walletRow } from '../modules/operators/list-rows.ts'
import { wallets } from '../modules/wallets/list.ts'
import type { WalletRow } from '../modules/wallets/wallet.ts'
import { walletStatuses } from '../modules/wallets/wallet.ts'
import { html } from '../server/pages/html.ts'
import { ageElement, assetAmount, choices, numberColumn, statusBadge } from './components.ts'
import type { ListColumn } from './list-page.ts'
import { listPage, merchantLink, ownerFilter, ownerLink } from './list-page.ts'

export const walletColumns: readonly ListColumn<WalletRow>[] = [
  {
    column: 'Wallet',
    cell: ({ id, description }, { urlFor }) =>
      html`<a href="${urlFor(`/wallets/${id}`)}" title="${id}">${description || id}</a>`,
  },
  { column: numberColumn('Balance'), cell: ({ balance, currency }) => assetAmount(balance, currency) },
  { column: 'Status', cell: ({ status }) => statusBadge(status) },
  { column: 'Owner', cell: ownerLink, names: 'customer' },
  { column: 'Created', cell: ({ createdAt }, { now }) => ageElement(createdAt, now) },
  { column: 'Merchant', cell: merchantLink, names: 'merchant' },
]

export const walletsPage = listPage({
  title: 'Wallets',
  path: '/wallets',
  noun: 'wallet',
  list: wallets,
  filters: [
    { name: 'status', label: 'Status', options: choices(walletStatuses) },
    { name: 'type', label: 'Type', options: choices(assetTypes), field: 'assetType' },
    { name: 'currency', label: 'Currency', hint: 'USDC' },
    { name: 'customer', label: 'Customer', hint: 'id', field: 'owner' },
  ],
  filterOf: ({ status, type, currency, customer }) => ({
    status: (status || undefined) as WalletRow['status'] | undefined,
    assetType: (type || undefined) as WalletRow['assetType'] | undefined,
    currency: currency || undefined,
    owner: ownerFilter(customer),
  }),
  columns: walletColumns,
  record: walletRow,
  empty: html`There is no wallet yet. A merchant opens one with <code>POST /api/wallets</code> or the mutation <code>createWallet</code>.`,
})
