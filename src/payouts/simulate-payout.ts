import type { z } from 'zod'
import type { Context } from '../context.ts'
import { requireSandbox } from '../context.ts'
import type { Payout } from './payout.ts'
import type { SettlePayoutInput } from './settle-payout.ts'
import { settlePayout } from './settle-payout.ts'

/**
 * Plays the bank that completes, fails or returns a payout, in the sandbox only.
 *
 * @throws Refusal, the first that applies: SANDBOX_ONLY, then those of `settlePayout`: INVALID_INPUT,
 *   RESOURCE_NOT_FOUND, PAYOUT_STATUS_CONFLICT, BALANCE_LIMIT_EXCEEDED
 */
export async function simulatePayout(context: Context, input: z.input<typeof SettlePayoutInput>): Promise<Payout> {
  requireSandbox(context)
  return settlePayout(context, input)
}
