import type { Entry, EntryDirection } from '../modules/ledger/entry.ts'
import type { OperatorAction } from '../modules/operators/record-action.ts'
import type { Payout, PayoutEvent } from '../modules/payouts/payout.ts'
import type { TimelineStep } from '../modules/payouts/payout-timeline.ts'
import type { WebhookAttempt, WebhookDelivery } from '../modules/webhooks/endpoints/list-webhook-deliveries.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { assetAmount, statusBadge, timeElement } from './components.ts'

/** Each list is oldest first. */
export type PayoutRecords = {
  readonly payout: Payout
  readonly merchantName: string
  /** `rail` is `null` if an operator settles the payout by hand. */
  readonly rail: string | null
  readonly states: readonly TimelineStep[]
  readonly events: readonly PayoutEvent[]
  readonly entries: readonly Entry[]
  readonly deliveries: readonly WebhookDelivery[]
  readonly endpointUrls: ReadonlyMap<string, string>
  readonly actions: readonly OperatorAction[]
}

type PayoutStep = {
  readonly at: string
  readonly actor: string
  readonly text: Html
  readonly detail?: string | null
}

export function payoutSteps(records: PayoutRecords): Html {
  const later = [
    ...operatorSteps(records),
    ...railSteps(records),
    ...statusSteps(records),
    ...entrySteps(records),
    ...webhookSteps(records),
  ].toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
  // The creation of the payout is always the first step, although the ledger transfer has a slightly earlier time.
  const steps = [createdStep(records), ...later]
  return html`<ol class="timeline">
${steps.map(
  ({ at, actor, text, detail }) =>
    html`<li>${timeElement(at)} <strong>${actor}</strong> ${text}${detail ? html`<br><span class="faint">${detail}</span>` : ''}</li>\n`,
)}</ol>
`
}

function createdStep({ payout, merchantName }: PayoutRecords): PayoutStep {
  const { amount, assetCode, recipientName } = payout
  const text = html`created the payout of ${assetAmount(amount, assetCode)} to ${recipientName}`
  return { at: payout.createdAt, actor: merchantName, text }
}

function operatorSteps({ actions }: PayoutRecords): readonly PayoutStep[] {
  return actions.map(({ createdAt: at, operator, action, reason }) => ({
    ...{ at, actor: operator, text: html`performed ${action}` },
    detail: reason && `Reason: ${reason}`,
  }))
}

function railSteps({ rail, states }: PayoutRecords): readonly PayoutStep[] {
  if (rail === null) return []
  return states.map(({ at, state, cause }) => ({
    ...{ at, actor: `Rail ${rail}`, text: html`order ${statusBadge(state)}` },
    detail: cause,
  }))
}

function statusSteps({ events }: PayoutRecords): readonly PayoutStep[] {
  return events.map(({ createdAt: at, status, cause }) => ({
    ...{ at, actor: 'Payout', text: html`became ${statusBadge(status)}` },
    detail: cause,
  }))
}

const verbs: Readonly<Record<EntryDirection, string>> = { debit: 'debited', credit: 'credited' }

function entrySteps({ entries }: PayoutRecords): readonly PayoutStep[] {
  return entries.map(({ createdAt: at, direction, amount, balanceAfter, assetCode }) => {
    const text = html`${verbs[direction]} the wallet by ${assetAmount(amount, assetCode)}; balance ${assetAmount(balanceAfter, assetCode)}`
    return { at, actor: 'Ledger', text }
  })
}

function webhookSteps({ deliveries, endpointUrls }: PayoutRecords): readonly PayoutStep[] {
  return deliveries.flatMap(({ endpointId, eventType, log }) =>
    log.map((attempt) => ({
      at: attempt.attemptedAt,
      actor: 'Webhook',
      text: html`${eventType} to ${endpointUrls.get(endpointId) ?? endpointId}: ${attemptOutcome(attempt)}`,
    })),
  )
}

export function attemptOutcome({ status, error }: Pick<WebhookAttempt, 'status' | 'error'>): string {
  return status === null ? (error ?? 'no answer') : `answered with ${status}`
}
