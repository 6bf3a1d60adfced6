import type { Context } from '../context.ts'
import { contextOf } from '../operators/owner-of.ts'
import { getPayout } from '../payouts/get-payout.ts'
import { payouts } from '../payouts/list.ts'
import type { Payout } from '../payouts/payout.ts'
import { payoutAssetCodes, payoutStatuses } from '../payouts/payout.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import type { Asked, ConsolePage } from './console-page.ts'
import { merchantChosen } from './merchant-choice.ts'
import { fiat, filters, link, money, number, sliceAsked, slicePager, status, table, time } from './parts.ts'

/** A merchant's payouts, newest first. */
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
    const body = context
      ? await list(asked, context)
      : html`<p class="empty">Choose a merchant: its payouts are listed then.</p>`
    return { title: 'Payouts', body: html`${finder(asked)}${narrowing}${body}` }
  },
}

/** Who has an id finds its payout, whosever it is. */
function finder(asked: Asked): Html {
  return filters(asked, [{ name: 'id', label: 'One payout', hint: 'its id' }], 'Find')
}

async function one(asked: Asked, payoutId: string): Promise<Html> {
  const given = payoutId.trim()
  const context = await contextOf(asked.service, 'payout', given)
  return payoutsTable(asked, [await getPayout(context, { payoutId: given })])
}

async function list(asked: Asked, context: Context): Promise<Html> {
  const { query } = asked
  const slice = await payouts.slice(context, {
    ...sliceAsked(asked),
    owner: 'any',
    status: (query.status || undefined) as Payout['status'] | undefined,
    assetCode: query.asset || undefined,
    walletId: query.wallet || undefined,
  })
  return html`${payoutsTable(asked, slice.items)}${slicePager(asked, slice)}`
}

function payoutsTable({ to }: Asked, items: readonly Payout[]): Html {
  const rows = items.map((payout) => [
    link(to(`/payouts/${payout.id}`), payout.id),
    time(payout.createdAt),
    status(payout.status),
    money(payout.amount, payout.assetCode),
    fiat(payout.amountFiat, payout.recipientCurrency),
    html`${payout.recipientName}`,
    html`${payout.bankName}`,
  ])
  const columns = ['Payout', 'Made', 'Status', number('Amount'), number('Pays out'), 'To', 'Bank']
  return table('Payouts', columns, rows, 'There are no such payouts.')
}
