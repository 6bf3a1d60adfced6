import { z } from 'zod'
import type { Context, Done } from '../context.ts'
import { requireSandbox } from '../context.ts'
import { once } from '../idempotency/once.ts'
import { parse } from '../input.ts'
import { findNamedPayout, getNamedPayout, payoutNameFaults } from './get-payout.ts'
import type { Payout } from './payout.ts'
import { SettlePayoutInput, settleWithin } from './settle-payout.ts'

const SimulatePayoutInput = SettlePayoutInput.extend({
  payoutId: z.string().nullish(),
  payoutKey: z.string().nullish(),
})

/**
 * Plays the bank that completes, fails or returns a payout, in the sandbox only.
 *
 * @throws Refusal, the first that applies: SANDBOX_ONLY, INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND,
 *   PAYOUT_STATUS_CONFLICT
 */
export async function simulatePayout(
  context: Context,
  input: z.input<typeof SimulatePayoutInput>,
): Promise<Done<Payout>> {
  requireSandbox(context)
  const request = parse(SimulatePayoutInput, input, payoutNameFaults(input))
  // When it was settled is enough to answer it again: the rest of a payout never changes.
  const { result, isReplayed } = await once(context, 'simulatePayout', request, async (tx) => {
    const { id: payoutId } = await findNamedPayout(tx, context, request)
    const { updatedAt } = await settleWithin(tx, context, { ...request, payoutId })
    return { updatedAt }
  })
  const payout = await getNamedPayout(context, request)
  return { result: { ...payout, status: request.status, ...result }, isReplayed }
}
