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
import { chooseMerchant } from './merchant-choice.ts'

/** The payouts of a merchant, or of all, newest first. */
export const payoutsPage: ConsolePage = {
  path: '/payouts',
  render: async (asked) => {
    if (asked.query.id)
      return {
        title: 'Payouts',
        body: html`${payoutSearchForm(asked)}${await payoutSearchResult(asked, asked.query.id)}`,
      }
    const { context, filter } = await chooseMerchant(asked)
    const narrowing = filterForm(asked, [
      filter,
      { name: 'status', label: 'Status', options: payoutStatuses.map((each) => [each, each]) },
      { name: 'asset', label: 'From', options: payoutAssetCodes.map((each) => [each, each]) },
      { name: 'wallet', label: 'Wallet', hint: 'id' },
    ])
    const body = await payoutListSection(asked, context)
    return { title: 'Payouts', body: html`${payoutSearchForm(asked)}${narrowing}${body}` }
  },
}

/** Finds a payout by any of its names, whichever merchant it is of. */
function payoutSearchForm(asked: PageRequest): Html {
  return filterForm(
    asked,
    [{ name: 'id', label: 'One payout', hint: 'id, transaction id, reference id or idempotency key' }],
    'Find',
  )
}

/** The payouts that are called so: where there are several, a person chooses. */
async function payoutSearchResult(asked: PageRequest, name: string): Promise<Html> {
  const found = await searchPayouts(asked.service, name)
  if (found.length === 0) throw notFound('Payout')
  return payoutsTable(asked, found, { ofMany: found.length > 1 })
}

async function payoutListSection(asked: PageRequest, context: Context | null): Promise<Html> {
  const { query, service } = asked
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
    return html`${payoutsTable(asked, items, { ofMany: true })}${pager(asked, { older: next === null ? null : { after: next } })}`
  }
  const slice = await payouts.slice(context, { ...sliceArgs(asked), ...filter })
  return html`${payoutsTable(asked, slice.items, { ofMany: false })}${slicePager(asked, slice)}`
}

/** @param ofMany whether they may be of several merchants, and show of which */
function payoutsTable({ urlFor: to }: PageRequest, items: readonly Payout[], { ofMany }: { ofMany: boolean }): Html {
  const rows = items.map((payout) => [
    html`<a href="${to(`/payouts/${payout.id}`)}" title="${payout.id}"><code>${payout.transactionId}</code></a>`,
    timeElement(payout.createdAt),
    statusBadge(payout.status),
    assetAmount(payout.amount, payout.assetCode),
    fiatAmount(payout.amountFiat, payout.recipientCurrency),
    html`${payout.recipientName}`,
    html`${payout.bankName}`,
    ...(ofMany ? [shortIdLink(to(`/merchants/${payout.merchantId}`), payout.merchantId)] : []),
  ])
  const columns = [
    'Payout',
    'Made',
    'Status',
    numberColumn('Amount'),
    numberColumn('Pays out'),
    'To',
    'Bank',
    ...(ofMany ? ['Merchant'] : []),
  ]
  return table('Payouts', columns, rows, 'There are no such payouts.')
}
