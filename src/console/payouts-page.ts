import { notFound } from '../core/errors.ts'
import { findPayouts } from '../modules/operators/find-payout.ts'
import { listAcrossMerchants } from '../modules/operators/list-across-merchants.ts'
import { payouts } from '../modules/payouts/list.ts'
import type { Payout } from '../modules/payouts/payout.ts'
import { payoutAssetCodes, payoutStatuses } from '../modules/payouts/payout.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { fiat, filters, link, money, number, pager, sliceAsked, slicePager, status, table, time } from './components.ts'
import type { Asked, ConsolePage } from './console-page.ts'
import { merchantChosen } from './merchant-choice.ts'

/** The payouts of a merchant, or of all, newest first. */
export const payoutsPage: ConsolePage = {
  path: '/payouts',
  render: async (asked) => {
    if (asked.query.id) return { title: 'Payouts', body: html`${finder(asked)}${await one(asked, asked.query.id)}` }
    const { context, filter } = await merchantChosen(asked)
    const narrowing = filters(asked, [
      filter,
      { name: 'status', label: 'Status', options: payoutStatuses.map((each) => [each, each]) },
      { name: 'asset', label: 'From', options: payoutAssetCodes.map((each) => [each, each]) },
      { name: 'wallet', label: 'Wallet', hint: 'id' },
    ])
    const body = await list(asked, context)
    return { title: 'Payouts', body: html`${finder(asked)}${narrowing}${body}` }
  },
}

/** Finds a payout by any of its names, whichever merchant it is of. */
function finder(asked: Asked): Html {
  return filters(
    asked,
    [{ name: 'id', label: 'One payout', hint: 'id, transaction id, reference id or idempotency key' }],
    'Find',
  )
}

/** The payouts that are called so: where there are several, a person chooses. */
async function one(asked: Asked, name: string): Promise<Html> {
  const found = await findPayouts(asked.service, name)
  if (found.length === 0) throw notFound('Payout')
  return payoutsTable(asked, found, { ofMany: found.length > 1 })
}

async function list(asked: Asked, context: Context | null): Promise<Html> {
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
  const slice = await payouts.slice(context, { ...sliceAsked(asked), ...filter })
  return html`${payoutsTable(asked, slice.items, { ofMany: false })}${slicePager(asked, slice)}`
}

/** @param ofMany whether they may be of several merchants, and show of which */
function payoutsTable({ to }: Asked, items: readonly Payout[], { ofMany }: { ofMany: boolean }): Html {
  const rows = items.map((payout) => [
    html`<a href="${to(`/payouts/${payout.id}`)}" title="${payout.id}"><code>${payout.transactionId}</code></a>`,
    time(payout.createdAt),
    status(payout.status),
    money(payout.amount, payout.assetCode),
    fiat(payout.amountFiat, payout.recipientCurrency),
    html`${payout.recipientName}`,
    html`${payout.bankName}`,
    ...(ofMany ? [link(to(`/merchants/${payout.merchantId}`), payout.merchantId)] : []),
  ])
  const columns = [
    'Payout',
    'Made',
    'Status',
    number('Amount'),
    number('Pays out'),
    'To',
    'Bank',
    ...(ofMany ? ['Merchant'] : []),
  ]
  return table('Payouts', columns, rows, 'There are no such payouts.')
}
