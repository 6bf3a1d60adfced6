import { enumDescription } from '../core/api/enum-descriptions.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { settledStatuses, settlePayout } from '../modules/payouts/settle-payout.ts'
import type { AttentionAction } from '../modules/rails/attention/attention-actions.ts'
import { attentionActions } from '../modules/rails/attention/attention-actions.ts'
import { resolveAttentionByOperator } from '../modules/rails/attention/resolve-attention.ts'
import { cancelPayout } from '../modules/rails/orders/cancel-payout.ts'
import type { ActionInput, ConsoleAction } from './console-page.ts'

const payoutIdOf = ({ params }: ActionInput) => params.payoutId ?? ''
const merchantVisibleReasonHint =
  'Kept in the log of operators with your name, and shown to the merchant with the payout.'

export const cancelPayoutAction: ConsoleAction = {
  name: 'payout cancel',
  title: 'Cancel',
  text: 'Takes the payout back: at once where its bank was not asked yet, else the bank is asked to.',
  subject: payoutIdOf,
  run: async (service, on) => {
    const payoutId = payoutIdOf(on)
    await cancelPayout(await createOwnerContext(service, 'payout', payoutId), { payoutId })
    return undefined
  },
}

export const settlePayoutAction: ConsoleAction = {
  name: 'payout settle',
  title: 'Settle by hand',
  text: 'Records what the bank did. What failed or came back is in the wallet again, with its fee.',
  fields: [
    {
      name: 'status',
      label: 'What became of it',
      options: settledStatuses.map((status) => [status, `${status}: ${enumDescription(settledStatuses, status)}`]),
    },
    {
      name: 'override',
      label: 'A rail is still at work on it, and what its bank reports later is to be left alone',
      kind: 'flag',
      isOptional: true,
    },
  ],
  reasonHint: merchantVisibleReasonHint,
  names: { cause: 'reason' },
  subject: payoutIdOf,
  run: async (service, on) => {
    const payoutId = payoutIdOf(on)
    const { status, override } = on.values
    const context = await createOwnerContext(service, 'payout', payoutId)
    // The operation says what is wrong with a word that is no status.
    await settlePayout(context, {
      ...{ payoutId, status: status as 'COMPLETED', cause: on.reason, override: override === 'yes' },
    })
    return undefined
  },
}

const attentionTitles = {
  RETRY: 'Have the bank asked again',
  COMPLETE: 'It was paid',
  FAIL: 'It was not paid',
} as const

/** What a person can do about a payout that needs one, by what it is called. */
export const attentionDecisions = Object.fromEntries(
  attentionActions.map((action) => [action, attentionDecision(action)]),
) as Readonly<Record<AttentionAction, ConsoleAction>>

function attentionDecision(action: AttentionAction): ConsoleAction {
  return {
    name: `attention ${action.toLowerCase()}`,
    title: attentionTitles[action],
    text: enumDescription(attentionActions, action),
    reasonHint: merchantVisibleReasonHint,
    subject: payoutIdOf,
    run: async (service, on) => {
      const payoutId = payoutIdOf(on)
      const context = await createOwnerContext(service, 'payout', payoutId)
      await resolveAttentionByOperator(context, { payoutId, action, reason: on.reason })
      return undefined
    },
  }
}
