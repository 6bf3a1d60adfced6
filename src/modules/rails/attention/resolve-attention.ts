import { z } from 'zod'
import { Refusal } from '../../../core/errors.ts'
import { dueAfter } from '../../../core/ids.ts'
import { freeText, oneOf, parse } from '../../../core/input.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context, Done, Mode } from '../../../operations/context.ts'
import { once } from '../../../operations/idempotency/run-once.ts'
import { findPayout, getPayout } from '../../payouts/get-payout.ts'
import type { Payout, PayoutStatus } from '../../payouts/payout.ts'
import { settleWithin } from '../../payouts/settle-payout.ts'
import { lockTransfer } from '../../rail-orders/repository.ts'
import { moveTransfer } from '../../rail-orders/transition-order.ts'
import type { AttentionAction } from './attention-actions.ts'
import { attentionActions, resolutionOf } from './attention-actions.ts'

const ResolveAttentionInput = z.object({
  payoutId: z.string(),
  action: oneOf(attentionActions),
  reason: freeText(),
})
type Input = z.input<typeof ResolveAttentionInput>

/**
 * Does what a merchant decides about one of its payouts that a person must look at. In `live` it may only have the bank asked
 * again: whose word the money follows is whoever runs the service, not whom it comes back to.
 *
 * @returns the payout as it is now
 * @throws Refusal, the first that applies: INVALID_INPUT, SANDBOX_ONLY, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND,
 *   PAYOUT_STATUS_CONFLICT
 */
export async function resolveAttention(context: Context, input: Input): Promise<Done<Payout>> {
  const { action } = parse(ResolveAttentionInput, input)
  if (!merchantActions(context).includes(action)) {
    const message = `In MODE=live ${action} is for whoever runs the service, on its command line: attention ${action.toLowerCase()}.`
    throw new Refusal('SANDBOX_ONLY', message)
  }
  return resolveAttentionByOperator(context, input)
}

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
export async function resolveAttentionByOperator(context: Context, input: Input): Promise<Done<Payout>> {
  const request = parse(ResolveAttentionInput, input)
  const { isReplayed } = await once(context, 'resolveAttention', request, async (tx) => {
    await resolveWithin(tx, context, request)
    return { payoutId: request.payoutId }
  })
  return { result: await getPayout(context, request), isReplayed }
}

async function resolveWithin(
  tx: Tx,
  context: Context,
  { payoutId, action, reason: cause }: z.output<typeof ResolveAttentionInput>,
): Promise<void> {
  const { merchantId, referenceId: orderId } = await findPayout(tx, context, payoutId)
  const transfer = await lockTransfer(tx, { merchantId, orderId })
  if (!transfer) throw conflict('No rail carries the payout: what became of it is settled by hand.')
  if (transfer.state !== 'ATTENTION') {
    throw conflict(`On the rail ${transfer.rail} the payout is ${transfer.state}: nobody needs to decide about it.`)
  }
  // Only now nobody else settles it.
  const { status } = await findPayout(tx, context, payoutId)
  const resolution = resolutionOf(status, action)
  if (resolution === null) throw conflict(whyNot(status, action))
  const { state, settles } = resolution
  if (settles !== null)
    await settleWithin(tx, context, { payoutId, status: settles, cause, reference: transfer.reference })
  const dueAt = action === 'RETRY' ? dueAfter(0, context.wallClock()) : null
  // Whoever has it tried again does not want it cancelled any more.
  await moveTransfer(tx, context, transfer, { state, cause, dueAt, asked: 0, cancelAskedAt: null })
}

function whyNot(status: PayoutStatus, action: AttentionAction): string {
  if (action === 'RETRY') return `The payout is ${status} already: asking the bank again would change nothing.`
  return `The payout is ${status}, and its money is back in the wallet: it can't be completed. Where the bank has paid all the same, the money must be collected otherwise; then fail keeps the payout as it is.`
}

function conflict(message: string): Refusal {
  return new Refusal('PAYOUT_STATUS_CONFLICT', message)
}
