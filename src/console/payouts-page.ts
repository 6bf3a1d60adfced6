import { notFound } from '../core/errors.ts'
import { searchPayouts } from '../modules/operators/find-payout.ts'
import { listAcrossMerchants } from '../modules/operators/list-across-merchants.ts'
import { payouts } from '../modules/payouts/list.ts'
import type { Payout } from '../modules/payouts/payout.ts'
import { payoutAssetCodes, payoutStatuses } from '../modules/payouts/payout.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import {
  assetAmount,
  fiatAmount,
  filterForm,
  numberColumn,
  pager,
  shortIdLink,
  sliceArgs,
  slicePager,
  statusBadge,
  table,
  timeElement,
} from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'
import { chooseMerchant } from './merchants-page.ts'

export const payoutsPage: ConsolePage = {
  path: '/payouts',
  render: async (request) => {
    if (request.query.id)
      return {
        title: 'Payouts',
        body: html`${payoutSearchForm(request)}${await payoutSearchResult(request, request.query.id)}`,
      }
    const { context, filter } = await chooseMerchant(request)
    const filters = filterForm(request, [
      filter,
      { name: 'status', label: 'Status', options: payoutStatuses.map((each) => [each, each]) },
      { name: 'asset', label: 'From', options: payoutAssetCodes.map((each) => [each, each]) },
      { name: 'wallet', label: 'Wallet', hint: 'id' },
    ])
    const body = await payoutListSection(request, context)
    return { title: 'Payouts', body: html`${payoutSearchForm(request)}${filters}${body}` }
  },
}

function payoutSearchForm(request: PageRequest): Html {
  return filterForm(
    request,
    [{ name: 'id', label: 'One payout', hint: 'id, transaction id, reference id or idempotency key' }],
    'Find',
  )
}

/** Lists the payouts of all merchants with an identifier; there are rarely several. */
async function payoutSearchResult(request: PageRequest, identifier: string): Promise<Html> {
  const matches = await searchPayouts(request.service, identifier)
  if (matches.length === 0) throw notFound('Payout')
  return payoutsTable(request, matches, { hasMerchant: matches.length > 1 })
}

async function payoutListSection(request: PageRequest, context: Context | null): Promise<Html> {
  const { query, service } = request
  const filter = {
    owner: 'any' as const,
    status: (query.status || undefined) as Payout['status'] | undefined,
    assetCode: query.asset || undefined,
    walletId: query.wallet || undefined,
  }
  if (context === null) {
    const { items, next } = await listAcrossMerchants(
      service,
      { list: payouts, filter },
      { after: query.after || undefined },
    )
    return html`${payoutsTable(request, items, { hasMerchant: true })}${pager(request, { older: next === null ? null : { after: next } })}`
  }
  const slice = await payouts.slice(context, { ...sliceArgs(request), ...filter })
  return html`${payoutsTable(request, slice.items, { hasMerchant: false })}${slicePager(request, slice)}`
}

function payoutsTable(
  { urlFor }: PageRequest,
  items: readonly Payout[],
  { hasMerchant }: { hasMerchant: boolean },
): Html {
  const rows = items.map((payout) => [
    html`<a href="${urlFor(`/payouts/${payout.id}`)}" title="${payout.id}"><code>${payout.transactionId}</code></a>`,
    timeElement(payout.createdAt),
    statusBadge(payout.status),
    assetAmount(payout.amount, payout.assetCode),
    fiatAmount(payout.amountFiat, payout.recipientCurrency),
    html`${payout.recipientName}`,
    html`${payout.bankName}`,
    ...(hasMerchant ? [shortIdLink(urlFor(`/merchants/${payout.merchantId}`), payout.merchantId)] : []),
  ])
  const columns = [
    'Payout',
    'Created',
    'Status',
    numberColumn('Amount'),
    numberColumn('Pays out'),
    'To',
    'Bank',
    ...(hasMerchant ? ['Merchant'] : []),
  ]
  return table('Payouts', columns, rows, 'There are no such payouts.')
}
