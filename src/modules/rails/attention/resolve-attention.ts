import { z } from 'zod'
import { defineEnum } from '../../../core/api/enum-descriptions.ts'
import { DomainError } from '../../../core/errors.ts'
import { dueTimeAfter } from '../../../core/ids-and-clock.ts'
import { freeText, oneOf, parseInput } from '../../../core/input.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context, IdempotentResult, Mode } from '../../../operations/context.ts'
import { defineOperation } from '../../../operations/define-operation.ts'
import { runOnce } from '../../../operations/idempotency/run-once.ts'
import { findPayout, getPayout } from '../../payouts/get-payout.ts'
import type { Payout, PayoutStatus } from '../../payouts/payout.ts'
import type { SettledStatus } from '../../payouts/settle-payout.ts'
import { settleInTransaction } from '../../payouts/settle-payout.ts'
import type { RailOrderState } from '../../rail-orders/rail-order.ts'
import { lockRailOrder } from '../../rail-orders/repository.ts'
import { transitionRailOrder } from '../../rail-orders/transition-order.ts'

/** An order enters the attention queue if the bank contradicted itself or does not know the order. */
export const attentionActions = defineEnum({
  RETRY: 'Polls the bank again, and resubmits the order only if that cannot pay it twice.',
  COMPLETE: 'The recipient was paid.',
  FAIL: 'The recipient was not paid, or the money came back. Returns amount and fee to the wallet.',
})
export type AttentionAction = (typeof attentionActions)[number]

type AttentionResolution = { readonly state: RailOrderState; readonly settledStatus: SettledStatus | null }

const ResolveAttentionInput = z.object({
  payoutId: z.string(),
  action: oneOf(attentionActions),
  reason: freeText(),
})
type ResolveAttentionArgs = z.input<typeof ResolveAttentionInput>

/**
 * In live mode, a merchant may only use `RETRY`, because only an operator may return money to the merchant's wallet.
 *
 * @returns the current payout
 */
export const resolveAttention = defineOperation(
  {
    name: 'resolveAttention',
    input: ResolveAttentionInput,
    scope: 'payouts',
    movesMoney: true,
    sandboxOnly: false,
    errors: ['SANDBOX_ONLY', 'RESOURCE_NOT_FOUND', 'PAYOUT_STATUS_CONFLICT'],
  },
  async (context, input): Promise<IdempotentResult<Payout>> => {
    const { action } = parseInput(ResolveAttentionInput, input)
    if (!merchantActions(context).includes(action)) {
      const message = `In MODE=live only an operator may ${action} a payout, on the command line: attention ${action.toLowerCase()}.`
      throw new DomainError('SANDBOX_ONLY', message)
    }
    return resolveAttentionByOperator(context, input)
  },
)

export function merchantActions({ mode }: Pick<Context, 'mode'>): readonly AttentionAction[] {
  const actions: Record<Mode, readonly AttentionAction[]> = { sandbox: attentionActions, live: ['RETRY'] }
  return actions[mode]
}

/**
 * The decision changes the payout and its rail order in one transaction.
 *
 * @returns the current payout
 * @throws DomainError, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND,
 * PAYOUT_STATUS_CONFLICT
 */
export async function resolveAttentionByOperator(
  context: Context,
  input: ResolveAttentionArgs,
): Promise<IdempotentResult<Payout>> {
  const request = parseInput(ResolveAttentionInput, input)
  const { isReplayed } = await runOnce(context, 'resolveAttention', request, async (tx) => {
    await resolveInTransaction(tx, context, request)
    return { payoutId: request.payoutId }
  })
  return { result: await getPayout(context, request), isReplayed }
}

async function resolveInTransaction(
  tx: Tx,
  context: Context,
  { payoutId, action, reason: cause }: z.output<typeof ResolveAttentionInput>,
): Promise<void> {
  const { merchantId, referenceId: orderId } = await findPayout(tx, context, payoutId)
  const railOrder = await lockRailOrder(tx, { merchantId, orderId })
  if (!railOrder) throw statusConflict('No rail carries the payout: it must be settled by hand.')
  if (railOrder.state !== 'ATTENTION') {
    throw statusConflict(`The payout is ${railOrder.state} on the rail ${railOrder.rail}: it needs no decision.`)
  }
  // The payout's status may have changed before the rail order was locked.
  const { status } = await findPayout(tx, context, payoutId)
  const resolution = resolutionOf(status, action)
  if (resolution === null) throw statusConflict(conflictMessage(status, action))
  const { state, settledStatus } = resolution
  if (settledStatus !== null)
    await settleInTransaction(tx, context, { payoutId, status: settledStatus, cause, reference: railOrder.reference })
  const dueAt = action === 'RETRY' ? dueTimeAfter(0, context.wallClock()) : null
  // Clears `cancelAskedAt`, so that an earlier request to cancel the payout has no further effect.
  await transitionRailOrder(tx, context, railOrder, { state, cause, dueAt, asked: 0, cancelAskedAt: null })
}

function conflictMessage(status: PayoutStatus, action: AttentionAction): string {
  if (action === 'RETRY') return `The payout is already ${status}: polling the bank again would change nothing.`
  return `The payout is ${status} and its money is back in the wallet, so it can't be completed. If the bank paid the recipient anyway, recover the money outside the service and choose FAIL, which leaves the payout as it is.`
}

function statusConflict(message: string): DomainError {
  return new DomainError('PAYOUT_STATUS_CONFLICT', message)
}

/** No resolution may debit or refund a wallet twice. */
const resolutions: {
  readonly [Status in PayoutStatus]: { readonly [Action in AttentionAction]?: AttentionResolution }
} = {
  PROCESSING: {
    RETRY: { state: 'UNKNOWN', settledStatus: null },
    COMPLETE: { state: 'COMPLETED', settledStatus: 'COMPLETED' },
    FAIL: { state: 'REJECTED', settledStatus: 'FAILED' },
  },
  COMPLETED: {
    COMPLETE: { state: 'COMPLETED', settledStatus: null },
    FAIL: { state: 'RETURNED', settledStatus: 'RETURNED' },
  },
  FAILED: { FAIL: { state: 'REJECTED', settledStatus: null } },
  RETURNED: { FAIL: { state: 'RETURNED', settledStatus: null } },
}

function resolutionOf(status: PayoutStatus, action: AttentionAction): AttentionResolution | null {
  return resolutions[status][action] ?? null
}

export function actionsFor(status: PayoutStatus): AttentionAction[] {
  return attentionActions.filter((action) => resolutionOf(status, action) !== null)
}
