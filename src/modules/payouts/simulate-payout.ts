import { z } from 'zod'
import { Refusal } from '../../core/errors.ts'
import { parse } from '../../core/input.ts'
import type { Context, Done } from '../../operations/context.ts'
import { requireSandbox } from '../../operations/context.ts'
import { once } from '../../operations/idempotency/run-once.ts'
import type { Transfer } from '../rail-orders/rail-order.ts'
import { sandboxRailName } from '../rail-orders/sandbox-accounts.ts'
import { findNamedPayout, getNamedPayout, payoutNameFaults } from './get-payout.ts'
import type { Payout } from './payout.ts'
import { SettlePayoutInput, settleByHand } from './settle-payout.ts'

const SimulatePayoutInput = SettlePayoutInput.omit({ override: true }).extend({
  payoutId: z.string().nullish(),
  payoutKey: z.string().nullish(),
})

/** The sandbox's own bank may be played, another's system not. */
function notPlayedHere({ rail, state }: Transfer): Refusal | null {
  if (rail === sandboxRailName) return null
  const message = `The payout is on the rail ${rail}, where it is ${state}: the bank there says what becomes of it.`
  return new Refusal('PAYOUT_STATUS_CONFLICT', message)
}

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
    const { updatedAt } = await settleByHand(tx, context, { ...request, payoutId }, notPlayedHere)
    return { updatedAt }
  })
  const payout = await getNamedPayout(context, request)
  return { result: { ...payout, status: request.status, ...result }, isReplayed }
}
