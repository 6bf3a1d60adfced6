import { enumDescription } from '../../../core/api/enum-descriptions.ts'
import type { Service } from '../../../operations/context.ts'
import type { Payout } from '../../payouts/payout.ts'
import { findRailOrders } from '../../payouts/payout-timeline.ts'
import { settledStatuses, settlePayout } from '../../payouts/settle-payout.ts'
import type { AttentionAction } from '../../rails/attention/resolve-attention.ts'
import { resolveAttentionByOperator } from '../../rails/attention/resolve-attention.ts'
import { cancelPayout } from '../../rails/orders/cancel-payout.ts'
import { pauseSubmissions, resumeSubmissions } from '../../rails/orders/rail-routes.ts'
import { createOwnerContext } from '../owner-context.ts'
import type { ActionDeclaration, ActionField } from './action-declaration.ts'

const payoutIdField: ActionField = { name: 'payoutId', typed: '<payout id>' }
const merchantVisibleReasonHint = 'Kept in the operator log with your name, and shown to the merchant with the payout.'

export const settlePayoutAction: ActionDeclaration = {
  name: 'payout settle',
  title: 'Settle by hand',
  summary:
    'Record what the bank did with a payout. After failed and returned, the wallet gets amount and fee back. Repeating it changes nothing.',
  fields: [
    payoutIdField,
    {
      name: 'status',
      typed: '<completed, failed or returned>',
      label: 'Outcome',
      options: settledStatuses.map((status) => [status, `${status}: ${enumDescription(settledStatuses, status)}`]),
    },
    {
      name: 'override',
      typed: '--override',
      help: 'required while a rail has an open order for it; later reports of the bank are then ignored',
      label: 'Settle it although a rail has an open order for it, and ignore later reports of the bank',
    },
  ],
  subject: ['payoutId'],
  movesMoney: true,
  reasonHint: merchantVisibleReasonHint,
  errorFields: { cause: 'reason' },
  run: async (service, { payoutId = '', status, override, reason }) => {
    const context = await createOwnerContext(service, 'payout', payoutId)
    const settled = await settlePayout(context, {
      payoutId,
      status: status?.toUpperCase() as 'COMPLETED',
      cause: reason,
      override: override !== undefined,
    })
    return { id: settled.id, status: settled.status, updatedAt: settled.updatedAt }
  },
}

export const cancelPayoutAction: ActionDeclaration = {
  name: 'payout cancel',
  title: 'Cancel',
  summary:
    'Cancel a payout. Cancels immediately if the bank has not received it, and asks the bank otherwise. Repeating it changes nothing.',
  fields: [payoutIdField],
  subject: ['payoutId'],
  movesMoney: true,
  run: async (service, { payoutId = '' }) => {
    const context = await createOwnerContext(service, 'payout', payoutId)
    return payoutWithRailOrder(service, (await cancelPayout(context, { payoutId })).result)
  },
}

export const attentionDecisions: Readonly<Record<AttentionAction, ActionDeclaration>> = {
  RETRY: attentionDecision('RETRY', {
    title: 'Ask the bank again',
    summary: 'Ask the bank again for the outcome of a payout. Submits it again only if the bank cannot pay it twice.',
  }),
  COMPLETE: attentionDecision('COMPLETE', { title: 'It was paid', summary: 'Mark a payout as paid.' }),
  FAIL: attentionDecision('FAIL', {
    title: 'It was not paid',
    summary: 'Mark a payout as not paid, or as returned. The money goes back to the wallet, with the fee.',
  }),
}

function attentionDecision(
  action: AttentionAction,
  texts: Pick<ActionDeclaration, 'title' | 'summary'>,
): ActionDeclaration {
  return {
    ...texts,
    name: `attention ${action.toLowerCase()}`,
    fields: [payoutIdField],
    subject: ['payoutId'],
    movesMoney: true,
    requiresReason: true,
    reasonHint: merchantVisibleReasonHint,
    run: async (service, { payoutId = '', reason = '' }) => {
      const context = await createOwnerContext(service, 'payout', payoutId)
      const { result } = await resolveAttentionByOperator(context, { payoutId, action, reason })
      return payoutWithRailOrder(service, result)
    },
  }
}

async function payoutWithRailOrder({ db }: Service, { merchantId, id, referenceId, status, updatedAt }: Payout) {
  const railOrder = (await findRailOrders({ db, merchantId }, [referenceId])).get(referenceId)
  const { rail = null, state = null, cancelAskedAt = null } = railOrder ?? {}
  return { id, status, rail, state, cancelAskedAt, updatedAt }
}

const railField: ActionField = { name: 'rail', typed: '<rail>' }

export const pauseRailAction: ActionDeclaration = {
  name: 'rail pause',
  title: 'Pause',
  summary:
    'Stop submitting payouts to a rail. New payouts are accepted and wait. Submitted payouts are still followed.',
  fields: [railField],
  rowFields: ['rail'],
  subject: ['rail'],
  run: (service, { rail = '' }) => pauseSubmissions(service, { rail }),
}

export const resumeRailAction: ActionDeclaration = {
  name: 'rail resume',
  title: 'Resume',
  summary: 'Submit payouts to a paused rail again. Starts with the oldest.',
  fields: [railField],
  rowFields: ['rail'],
  subject: ['rail'],
  run: (service, { rail = '' }) => resumeSubmissions(service, { rail }),
}
