import { findMerchant } from '../modules/merchants/find-merchant.ts'
import { contextOf } from '../modules/operators/find-merchant-of.ts'
import { findPayoutEvents } from '../modules/payouts/find-payout-events.ts'
import { getPayout } from '../modules/payouts/get-payout.ts'
import type { Payout } from '../modules/payouts/payout.ts'
import { findTimelines, findTransfers } from '../modules/payouts/payout-timeline.ts'
import { sumsWithFee } from '../modules/pricing/fees/fee.ts'
import type { Transfer } from '../modules/rail-orders/rail-order.ts'
import { isOpen } from '../modules/rail-orders/rail-order.ts'
import { actionsFor } from '../modules/rails/attention/attention-actions.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { facts, fiat, id, money, orNothing, status, table, time } from './components.ts'
import type { Action, Asked, ConsolePage } from './console-page.ts'
import { doneTo } from './log-page.ts'
import { attentionActionOf, cancelAction, settleAction } from './payout-actions.ts'
import { deliveriesOfPayout } from './payout-deliveries.ts'
import { entriesTable } from './wallet-page.ts'

/** One payout: what it is, what became of it, who was told, and what can be done. */
export const payoutPage: ConsolePage = {
  path: '/payouts/:payoutId',
  actions: [cancelAction, settleAction, ...Object.values(attentionActionOf)],
  render: async (asked) => {
    const { service, params } = asked
    const context = await contextOf(service, 'payout', params.payoutId ?? '')
    const payout = await getPayout(context, { payoutId: params.payoutId ?? '' })
    const transfers = await findTransfers(context, [payout.referenceId])
    const transfer = transfers.get(payout.referenceId) ?? null
    const merchant = await findMerchant(service.db, context.merchantId)
    return {
      title: `Payout ${payout.transactionId}`,
      body: html`${factsOf(asked, payout, { merchant, transfer })}
${doable(asked, payout, transfer)}
<h2>Timeline</h2>
${await timeline(context, payout, transfer)}
<h2>What it moved in the wallet</h2>
${await moved(asked, context, payout)}
<h2>Webhooks about it</h2>
${await deliveriesOfPayout(asked, context, payout)}
${await doneTo(service, payout.id)}`,
    }
  },
}

type Around = { readonly merchant: { readonly id: string; readonly name: string }; readonly transfer: Transfer | null }

function factsOf({ to }: Asked, payout: Payout, { merchant, transfer }: Around): Html {
  const { netAmount, total } = sumsWithFee(payout)
  return facts([
    ['Status', status(payout.status)],
    ['On its rail', transfer ? html`${transfer.rail}: ${status(transfer.state)}` : html`No rail carries it.`],
    ['Amount', money(payout.amount, payout.assetCode)],
    ['Fee', money(payout.fee, payout.assetCode)],
    ['Left the wallet', money(total, payout.assetCode)],
    ['Was converted', money(netAmount, payout.assetCode)],
    ['Pays out', html`${fiat(payout.amountFiat, payout.recipientCurrency)} at ${payout.exchangeRate}`],
    ['Made', time(payout.createdAt)],
    ['Changed', time(payout.updatedAt)],
    ['Merchant', html`<a href="${to(`/merchants/${merchant.id}`)}">${merchant.name}</a>`],
    ['Wallet', html`<a href="${to(`/wallets/${payout.walletId}`)}"><code>${payout.walletId}</code></a>`],
    ['Customer', id(payout.customerId)],
    ['Recipient', html`${payout.recipientName}, ${payout.recipientCountry}`],
    ['Account', html`${payout.accountNumber} at ${payout.bankName} (${payout.bankCode})`],
    ['Purpose', html`${payout.paymentPurpose}`],
    ['Narration', orNothing(payout.narration)],
    ['The bank’s reference', orNothing(transfer?.reference ?? payout.fiatReferenceId)],
    ['To be cancelled since', time(transfer?.cancelAskedAt ?? null)],
    ['Id', id(payout.id)],
    ['Order', id(payout.referenceId)],
  ])
}

/** What can be done about a payout as it is now: what it would refuse is not offered. */
function doable({ form }: Asked, { status }: Payout, transfer: Transfer | null): Html {
  const offered = offeredFor(status, transfer)
  if (offered.length === 0) return html`<h2>What can be done</h2><p class="empty">Nothing is left to be done.</p>`
  return html`<h2>What can be done</h2><div class="actions">${offered.map((action) => form(action))}</div>`
}

function offeredFor(status: Payout['status'], transfer: Transfer | null): readonly Action[] {
  const isSettleable = status === 'PROCESSING' || status === 'COMPLETED'
  const settle = isSettleable ? [settleAction] : []
  if (transfer === null) return settle
  if (transfer.state === 'ATTENTION') return [...actionsFor(status).map((each) => attentionActionOf[each]), ...settle]
  return isOpen(transfer.state) && transfer.cancelAskedAt === null ? [cancelAction, ...settle] : settle
}

async function timeline(context: Context, payout: Payout, transfer: Transfer | null): Promise<Html> {
  const steps = (await findTimelines(context, [payout], async () => () => transfer)).get(payout.id) ?? []
  return html`<ol class="timeline">
${steps.map(
  ({ state, at, cause }) => html`<li>${status(state)} ${time(at)}${cause ? html`<br>${cause}` : ''}</li>\n`,
)}</ol>
`
}

async function moved(asked: Asked, context: Context, payout: Payout): Promise<Html> {
  const events = await findPayoutEvents(context, [payout.id])
  const became = table(
    'What became of it',
    ['When', 'Status', 'Cause', 'Transfer'],
    events.map(({ createdAt, status: word, cause, transferId }) => [
      time(createdAt),
      status(word),
      orNothing(cause),
      id(transferId),
    ]),
    'It is as it was made.',
  )
  return html`${await entriesTable(
    asked,
    context,
    [payout, ...events].map(({ transferId }) => transferId),
  )}${became}`
}
