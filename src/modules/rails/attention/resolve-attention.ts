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

/** What a person can do about a payout of which a bank contradicts itself, or nothing is known. */
export const attentionActions = defineEnum({
  RETRY:
    'The bank is asked again what became of it, and is given the order again only where that can not pay it twice.',
  COMPLETE: 'It was paid.',
  FAIL: 'It was not paid, or the money came back: amount and fee are in the wallet afterwards.',
})
export type AttentionAction = (typeof attentionActions)[number]

/** What an action makes of the transfer, and how the payout is settled by it, where it is. */
export type AttentionResolution = { readonly state: RailOrderState; readonly settledStatus: SettledStatus | null }

const ResolveAttentionInput = z.object({
  payoutId: z.string(),
  action: oneOf(attentionActions),
  reason: freeText(),
})
type ResolveAttentionArgs = z.input<typeof ResolveAttentionInput>

/**
 * Does what a merchant decides about one of its payouts that a person must look at. In `live` it may only have the bank asked
 * again: whose word the money follows is whoever runs the service, not whom it comes back to.
 *
 * @returns the payout as it is now
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
      const message = `In MODE=live ${action} is for whoever runs the service, on its command line: attention ${action.toLowerCase()}.`
      throw new DomainError('SANDBOX_ONLY', message)
    }
    return resolveAttentionByOperator(context, input)
  },
)

/** The actions that are the merchant's own. */
export function merchantActions({ mode }: Pick<Context, 'mode'>): readonly AttentionAction[] {
  const actions: Record<Mode, readonly AttentionAction[]> = { sandbox: attentionActions, live: ['RETRY'] }
  return actions[mode]
}

/**
 * Does what somebody has decided who knows what became of the money; the reason is kept with it. What it settles and what it
 * makes of the transfer are one commit.
 *
 * @returns the payout as it is now
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND,
 *   PAYOUT_STATUS_CONFLICT
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
  const transfer = await lockRailOrder(tx, { merchantId, orderId })
  if (!transfer) throw statusConflict('No rail carries the payout: what became of it is settled by hand.')
  if (transfer.state !== 'ATTENTION') {
    throw statusConflict(
      `On the rail ${transfer.rail} the payout is ${transfer.state}: nobody needs to decide about it.`,
    )
  }
  // Only now nobody else settles it.
  const { status } = await findPayout(tx, context, payoutId)
  const resolution = resolutionOf(status, action)
  if (resolution === null) throw statusConflict(conflictMessage(status, action))
  const { state, settledStatus: settles } = resolution
  if (settles !== null)
    await settleInTransaction(tx, context, { payoutId, status: settles, cause, reference: transfer.reference })
  const dueAt = action === 'RETRY' ? dueTimeAfter(0, context.wallClock()) : null
  // Whoever has it tried again does not want it cancelled any more.
  await transitionRailOrder(tx, context, transfer, { state, cause, dueAt, asked: 0, cancelAskedAt: null })
}

function conflictMessage(status: PayoutStatus, action: AttentionAction): string {
  if (action === 'RETRY') return `The payout is ${status} already: asking the bank again would change nothing.`
  return `The payout is ${status}, and its money is back in the wallet: it can't be completed. Where the bank has paid all the same, the money must be collected otherwise; then fail keeps the payout as it is.`
}

function statusConflict(message: string): DomainError {
  return new DomainError('PAYOUT_STATUS_CONFLICT', message)
}

/** The actions for a payout in each status: no money leaves the wallet a second time, and none comes back twice. */
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

/** What an action comes to; `null` where a payout in that status does not have it. */
export function resolutionOf(status: PayoutStatus, action: AttentionAction): AttentionResolution | null {
  return resolutions[status][action] ?? null
}

/** What can be done about a payout in a status. */
export function actionsFor(status: PayoutStatus): AttentionAction[] {
  return attentionActions.filter((action) => resolutionOf(status, action) !== null)
}
