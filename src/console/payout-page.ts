import { findMerchant } from '../modules/merchants/find-merchant.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { findPayoutEvents } from '../modules/payouts/find-payout-events.ts'
import { getPayout } from '../modules/payouts/get-payout.ts'
import type { Payout } from '../modules/payouts/payout.ts'
import { findRailOrders, findTimelines } from '../modules/payouts/payout-timeline.ts'
import { computeFeeSums } from '../modules/pricing/fees/fee.ts'
import type { RailOrder } from '../modules/rail-orders/rail-order.ts'
import { isOpenState } from '../modules/rail-orders/rail-order.ts'
import { actionsFor } from '../modules/rails/attention/attention-actions.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import {
  assetAmount,
  descriptionList,
  fiatAmount,
  idElement,
  statusBadge,
  table,
  timeElement,
  valueOrEmpty,
} from './components.ts'
import type { ConsoleAction, ConsolePage, PageRequest } from './console-page.ts'
import { operatorActionsOn } from './log-page.ts'
import { attentionDecisions, cancelPayoutAction, settlePayoutAction } from './payout-actions.ts'
import { payoutDeliveriesTable } from './payout-deliveries.ts'
import { transferEntriesTable } from './wallet-page.ts'

/** One payout: what it is, what became of it, who was told, and what can be done. */
export const payoutPage: ConsolePage = {
  path: '/payouts/:payoutId',
  actions: [cancelPayoutAction, settlePayoutAction, ...Object.values(attentionDecisions)],
  render: async (asked) => {
    const { service, params } = asked
    const context = await createOwnerContext(service, 'payout', params.payoutId ?? '')
    const payout = await getPayout(context, { payoutId: params.payoutId ?? '' })
    const transfers = await findRailOrders(context, [payout.referenceId])
    const transfer = transfers.get(payout.referenceId) ?? null
    const merchant = await findMerchant(service.db, context.merchantId)
    return {
      title: `Payout ${payout.transactionId}`,
      body: html`${payoutFacts(asked, payout, { merchant, railOrder: transfer })}
${actionsSection(asked, payout, transfer)}
<h2>Timeline</h2>
${await timelineList(context, payout, transfer)}
<h2>What it moved in the wallet</h2>
${await ledgerSection(asked, context, payout)}
<h2>Webhooks about it</h2>
${await payoutDeliveriesTable(asked, context, payout)}
${await operatorActionsOn(service, payout.id)}`,
    }
  },
}

type PayoutRelations = {
  readonly merchant: { readonly id: string; readonly name: string }
  readonly railOrder: RailOrder | null
}

function payoutFacts(
  { urlFor: to }: PageRequest,
  payout: Payout,
  { merchant, railOrder: transfer }: PayoutRelations,
): Html {
  const { netAmount, total } = computeFeeSums(payout)
  return descriptionList([
    ['Status', statusBadge(payout.status)],
    ['On its rail', transfer ? html`${transfer.rail}: ${statusBadge(transfer.state)}` : html`No rail carries it.`],
    ['Amount', assetAmount(payout.amount, payout.assetCode)],
    ['Fee', assetAmount(payout.fee, payout.assetCode)],
    ['Left the wallet', assetAmount(total, payout.assetCode)],
    ['Was converted', assetAmount(netAmount, payout.assetCode)],
    ['Pays out', html`${fiatAmount(payout.amountFiat, payout.recipientCurrency)} at ${payout.exchangeRate}`],
    ['Made', timeElement(payout.createdAt)],
    ['Changed', timeElement(payout.updatedAt)],
    ['Merchant', html`<a href="${to(`/merchants/${merchant.id}`)}">${merchant.name}</a>`],
    ['Wallet', html`<a href="${to(`/wallets/${payout.walletId}`)}"><code>${payout.walletId}</code></a>`],
    ['Customer', idElement(payout.customerId)],
    ['Recipient', html`${payout.recipientName}, ${payout.recipientCountry}`],
    ['Account', html`${payout.accountNumber} at ${payout.bankName} (${payout.bankCode})`],
    ['Purpose', html`${payout.paymentPurpose}`],
    ['Narration', valueOrEmpty(payout.narration)],
    ['The bank’s reference', valueOrEmpty(transfer?.reference ?? payout.fiatReferenceId)],
    ['To be cancelled since', timeElement(transfer?.cancelAskedAt ?? null)],
    ['Id', idElement(payout.id)],
    ['Order', idElement(payout.referenceId)],
  ])
}

/** What can be done about a payout as it is now: what it would refuse is not offered. */
function actionsSection({ actionForm: form }: PageRequest, { status }: Payout, transfer: RailOrder | null): Html {
  const offered = availableActions(status, transfer)
  if (offered.length === 0) return html`<h2>What can be done</h2><p class="empty">Nothing is left to be done.</p>`
  return html`<h2>What can be done</h2><div class="actions">${offered.map((action) => form(action))}</div>`
}

function availableActions(status: Payout['status'], transfer: RailOrder | null): readonly ConsoleAction[] {
  const isSettleable = status === 'PROCESSING' || status === 'COMPLETED'
  const settle = isSettleable ? [settlePayoutAction] : []
  if (transfer === null) return settle
  if (transfer.state === 'ATTENTION') return [...actionsFor(status).map((each) => attentionDecisions[each]), ...settle]
  return isOpenState(transfer.state) && transfer.cancelAskedAt === null ? [cancelPayoutAction, ...settle] : settle
}

async function timelineList(context: Context, payout: Payout, transfer: RailOrder | null): Promise<Html> {
  const steps = (await findTimelines(context, [payout], async () => () => transfer)).get(payout.id) ?? []
  return html`<ol class="timeline">
${steps.map(
  ({ state, at, cause }) => html`<li>${statusBadge(state)} ${timeElement(at)}${cause ? html`<br>${cause}` : ''}</li>\n`,
)}</ol>
`
}

async function ledgerSection(asked: PageRequest, context: Context, payout: Payout): Promise<Html> {
  const events = await findPayoutEvents(context, [payout.id])
  const became = table(
    'What became of it',
    ['When', 'Status', 'Cause', 'Transfer'],
    events.map(({ createdAt, status: word, cause, transferId }) => [
      timeElement(createdAt),
      statusBadge(word),
      valueOrEmpty(cause),
      idElement(transferId),
    ]),
    'It is as it was made.',
  )
  return html`${await transferEntriesTable(
    asked,
    context,
    [payout, ...events].map(({ transferId }) => transferId),
  )}${became}`
}
