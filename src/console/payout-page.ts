import { timestamp } from '../core/ids-and-clock.ts'
import type { Customer } from '../modules/customers/customer.ts'
import { customers } from '../modules/customers/list.ts'
import type { Entry } from '../modules/ledger/entry.ts'
import { walletEntriesOfTransfers } from '../modules/ledger/repository.ts'
import { findMerchant } from '../modules/merchants/merchant.ts'
import type { ActionDeclaration } from '../modules/operators/actions/action-declaration.ts'
import {
  attentionDecisions,
  cancelPayoutAction,
  settlePayoutAction,
} from '../modules/operators/actions/payout-actions.ts'
import { listOperatorActions } from '../modules/operators/list-operator-actions.ts'
import { customerName } from '../modules/operators/list-rows.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { getPayout } from '../modules/payouts/get-payout.ts'
import type { Payout, PayoutEvent } from '../modules/payouts/payout.ts'
import { findPayoutEvents, findRailOrders, findTimelines } from '../modules/payouts/payout-timeline.ts'
import { computeFeeSums } from '../modules/pricing/fees.ts'
import type { RailOrder } from '../modules/rail-orders/rail-order.ts'
import { isOpenState } from '../modules/rail-orders/rail-order.ts'
import { actionsFor } from '../modules/rails/attention/resolve-attention.ts'
import { webhookEndpoints } from '../modules/webhooks/endpoints/list.ts'
import type { WebhookDelivery } from '../modules/webhooks/endpoints/list-webhook-deliveries.ts'
import { webhookDeliveries } from '../modules/webhooks/endpoints/list-webhook-deliveries.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import {
  assetAmount,
  copyableId,
  descriptionList,
  fiatAmount,
  idElement,
  shortIdLink,
  statusBadge,
  table,
  timeElement,
  valueOrEmpty,
} from './components.ts'
import type { ConsolePage, Fact, PageRequest } from './console-page.ts'
import { operatorActionsOn } from './log-page.ts'
import type { PayoutRecords } from './payout-steps.ts'
import { payoutSteps } from './payout-steps.ts'
import { entriesTable } from './wallet-page.ts'
import { attemptList } from './webhook-page.ts'

export const payoutPage: ConsolePage = {
  path: '/payouts/:payoutId',
  actions: [cancelPayoutAction, settlePayoutAction, ...Object.values(attentionDecisions)],
  confirmationFacts: async (request) => {
    const { context, payout } = await findShownPayout(request)
    const railOrder = (await findRailOrders(context, [payout.referenceId])).get(payout.referenceId) ?? null
    return [['Payout', idElement(payout.transactionId)], ...moneyFacts(payout, railOrder)]
  },
  render: async (request) => {
    const { service } = request
    const { context, payout } = await findShownPayout(request)
    const railOrder = (await findRailOrders(context, [payout.referenceId])).get(payout.referenceId) ?? null
    const merchant = await findMerchant(service.db, context.merchantId)
    const { customerId } = payout
    const customer = customerId === null ? null : await customers.byId(service.db, { ...context, id: customerId })
    const states = (await findTimelines(context, [payout], async () => () => railOrder)).get(payout.id) ?? []
    const events = await findPayoutEvents(context, [payout.id])
    const entries = await findTransferEntries(context, [payout, ...events])
    const webhooks = await findPayoutDeliveries(context, [payout, ...events], payout.id)
    const actions = (await listOperatorActions(service, { subject: payout.id })).items.toReversed()
    return {
      title: `Payout ${payout.transactionId}`,
      body: html`${payoutFacts(request, payout, { merchant, customer, railOrder })}
${actionsSection(request, payout, railOrder)}
<h2>Timeline</h2>
${payoutSteps({ payout, merchantName: merchant.name, rail: railOrder?.rail ?? null, states, events, entries, actions, ...webhooks })}
<h2>Wallet entries</h2>
${entriesTable(request, entries)}
<h2>Status changes</h2>
${statusChangesTable(events)}
<h2>Webhook deliveries</h2>
${payoutDeliveriesTable(request, webhooks)}
${await operatorActionsOn(service, payout.id)}`,
    }
  },
}

async function findShownPayout({ service, params: { payoutId = '' } }: PageRequest) {
  const context = await createOwnerContext(service, 'payout', payoutId)
  return { context, payout: await getPayout(context, { payoutId }) }
}

type PayoutRelations = {
  readonly merchant: { readonly id: string; readonly name: string }
  readonly customer: Customer | null
  readonly railOrder: RailOrder | null
}

function payoutFacts(
  { urlFor }: PageRequest,
  payout: Payout,
  { merchant, customer, railOrder }: PayoutRelations,
): Html {
  const { netAmount } = computeFeeSums(payout)
  const customerLink =
    customer === null
      ? html`<span class="faint">none: the merchant’s own</span>`
      : html`<a href="${urlFor(`/customers/${customer.id}`)}">${customerName(customer) || customer.id}</a>`
  return descriptionList([
    ...moneyFacts(payout, railOrder),
    ['Converted', assetAmount(netAmount, payout.assetCode)],
    ['Created', timeElement(payout.createdAt)],
    ['Updated', timeElement(payout.updatedAt)],
    ['Merchant', html`<a href="${urlFor(`/merchants/${merchant.id}`)}">${merchant.name}</a>`],
    ['Wallet', html`<a href="${urlFor(`/wallets/${payout.walletId}`)}"><code>${payout.walletId}</code></a>`],
    ['Customer', customerLink],
    ['Purpose', html`${payout.paymentPurpose}`],
    ['Narration', valueOrEmpty(payout.narration)],
    ['The bank’s reference', idElement(railOrder?.reference ?? payout.fiatReferenceId)],
    ['Cancellation requested', timeElement(railOrder?.cancelAskedAt ?? null)],
    ['Id', copyableId(payout.id, 'the id')],
    ['Reference id', copyableId(payout.referenceId, 'the reference id')],
  ])
}

function moneyFacts(payout: Payout, railOrder: RailOrder | null): readonly Fact[] {
  const { total } = computeFeeSums(payout)
  return [
    ['Status', statusBadge(payout.status)],
    ['Rail', railOrder ? html`${railOrder.rail}: ${statusBadge(railOrder.state)}` : html`none`],
    ['Amount', assetAmount(payout.amount, payout.assetCode)],
    ['Fee', assetAmount(payout.fee, payout.assetCode)],
    ['Debited from the wallet', assetAmount(total, payout.assetCode)],
    ['Pays out', html`${fiatAmount(payout.amountFiat, payout.recipientCurrency)} at ${payout.exchangeRate}`],
    ['Recipient', html`${payout.recipientName}, ${payout.recipientCountry}`],
    ['Account', html`${payout.accountNumber} at ${payout.bankName} (${payout.bankCode})`],
  ]
}

function actionsSection({ session, actionForm }: PageRequest, { status }: Payout, railOrder: RailOrder | null): Html {
  if (!session.can('act')) return html``
  const actions = availableActions(status, railOrder)
  if (actions.length === 0) return html`<h2>Actions</h2><p class="empty">No action is possible.</p>`
  return html`<h2>Actions</h2><div class="actions">${actions.map((action) => actionForm(action))}</div>`
}

function availableActions(status: Payout['status'], railOrder: RailOrder | null): readonly ActionDeclaration[] {
  const isSettleable = status === 'PROCESSING' || status === 'COMPLETED'
  const settle = isSettleable ? [settlePayoutAction] : []
  if (railOrder === null) return settle
  if (railOrder.state === 'ATTENTION') return [...actionsFor(status).map((each) => attentionDecisions[each]), ...settle]
  return isOpenState(railOrder.state) && railOrder.cancelAskedAt === null ? [cancelPayoutAction, ...settle] : settle
}

async function findTransferEntries(
  { db, merchantId }: Context,
  transfers: readonly { readonly transferId: string }[],
): Promise<readonly Entry[]> {
  const transferIds = transfers.map(({ transferId }) => transferId)
  const items = await walletEntriesOfTransfers(db, { merchantId, transferIds })
  return items.toSorted((one, other) => one.sequence - other.sequence)
}

function statusChangesTable(events: readonly PayoutEvent[]): Html {
  return table(
    'Status changes',
    ['Time', 'Status', 'Cause', 'Transfer'],
    events.map(({ createdAt, status, cause, transferId }) => [
      timeElement(createdAt),
      statusBadge(status),
      valueOrEmpty(cause),
      idElement(transferId),
    ]),
    'Its status has not changed.',
  )
}

type PayoutDeliveries = Pick<PayoutRecords, 'deliveries' | 'endpointUrls'>

/**
 * Delivered webhooks have no index by payout, so the function searches deliveries by the times of the payout's events.
 */
async function findPayoutDeliveries(
  context: Context,
  events: readonly { readonly createdAt: string }[],
  payoutId: string,
): Promise<PayoutDeliveries> {
  const { items } = await webhookEndpoints.slice(context, { first: 100 })
  const ids = items.map(({ id }) => id)
  const deliveries = []
  for (const createdAt of new Set(events.map((event) => event.createdAt))) {
    const period = { createdFrom: createdAt, createdBefore: nextMillisecond(createdAt), first: 100 }
    const slices = await webhookDeliveries.slicesOf('endpoint')(context, ids, period)
    deliveries.push(
      ...[...slices.values()].flatMap((slice) => slice.items.filter(({ objectId }) => objectId === payoutId)),
    )
  }
  return { deliveries, endpointUrls: new Map(items.map(({ id, url }) => [id, url])) }
}

function payoutDeliveriesTable(request: PageRequest, { deliveries, endpointUrls }: PayoutDeliveries): Html {
  return table(
    'Webhook deliveries',
    ['Event', 'Endpoint', 'Status', 'Attempts'],
    deliveries.map((delivery) => deliveryRow(request, delivery, endpointUrls)),
    'There are no deliveries about it, or they are no longer kept.',
  )
}

function deliveryRow(
  { urlFor }: PageRequest,
  delivery: WebhookDelivery,
  urls: ReadonlyMap<string, string>,
): readonly Html[] {
  const { endpointId } = delivery
  return [
    html`${delivery.eventType} <span class="faint">sequence ${delivery.sequence}</span>`,
    html`${shortIdLink(urlFor(`/webhooks/${endpointId}`), endpointId)} ${urls.get(endpointId) ?? ''}`,
    statusBadge(delivery.status),
    attemptList(delivery),
  ]
}

function nextMillisecond(time: string): string {
  return timestamp(Date.parse(time) + 1)
}
