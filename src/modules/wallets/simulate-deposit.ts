import { z } from 'zod'
import { optionalText, parseInput } from '../../core/input.ts'
import type { Context, IdempotentResult } from '../../operations/context.ts'
import { requireSandbox } from '../../operations/context.ts'
import { runOnce } from '../../operations/idempotency/run-once.ts'
import type { Deposit } from './deposit-to-wallet.ts'
import { addDeposit, DepositInput } from './deposit-to-wallet.ts'
import { depositByReference } from './repository.ts'

export const SimulateDepositInput = z.object({ ...DepositInput.shape, reference: optionalText() })

/**
 * Adds money to a wallet as if it had arrived from outside, in the sandbox only.
 *
 * @param input without `reference` one is made up, so every such call is another deposit unless it has an idempotency key
 * @throws Refusal, the first that applies: SANDBOX_ONLY, INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND
 *   (wallet), DEPOSIT_REFERENCE_REUSED, BALANCE_LIMIT_EXCEEDED
 */
export async function simulateDeposit(
  context: Context,
  input: z.input<typeof SimulateDepositInput>,
): Promise<IdempotentResult<Deposit>> {
  requireSandbox(context)
  const request = parseInput(SimulateDepositInput, input)
  // A deposit never changes, so its reference is enough to answer it again.
  const { result, isReplayed } = await runOnce(context, 'simulateDeposit', request, async (tx) => {
    const reference = request.reference ?? `simulated ${context.newId()}`
    await addDeposit(tx, context, { ...request, reference })
    return { reference }
  })
  const deposit = await depositByReference(context.db, { merchantId: context.merchantId, ...result })
  if (!deposit) throw new Error('a deposit that was made is not there')
  return { result: deposit, isReplayed }
}
