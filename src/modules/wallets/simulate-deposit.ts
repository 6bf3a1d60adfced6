import { z } from 'zod'
import { optionalText, parseInput } from '../../core/input.ts'
import type { IdempotentResult } from '../../operations/context.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { runOnce } from '../../operations/idempotency/run-once.ts'
import type { Deposit } from './deposit-to-wallet.ts'
import { addDeposit, DepositInput } from './deposit-to-wallet.ts'
import { depositByReference } from './repository.ts'

const SimulateDepositInput = z.object({ ...DepositInput.shape, reference: optionalText() })

/**
 * @param input if `reference` is absent, a reference is generated, so each call without an idempotency key is a new
 * deposit
 */
export const simulateDeposit = defineOperation(
  {
    name: 'simulateDeposit',
    input: SimulateDepositInput,
    scope: 'sandbox',
    actsAsCustomer: true,
    movesMoney: true,
    sandboxOnly: true,
    errors: ['RESOURCE_NOT_FOUND', 'DEPOSIT_REFERENCE_REUSED', 'BALANCE_LIMIT_EXCEEDED'],
  },
  async (context, input): Promise<IdempotentResult<Deposit>> => {
    const request = parseInput(SimulateDepositInput, input)
    // A deposit never changes, so its reference is enough to repeat the response.
    const { result, isReplayed } = await runOnce(context, 'simulateDeposit', request, async (tx) => {
      const reference = request.reference ?? `simulated ${context.newId()}`
      await addDeposit(tx, context, { ...request, reference })
      return { reference }
    })
    const deposit = await depositByReference(context.db, { merchantId: context.merchantId, ...result })
    if (!deposit) throw new Error('the simulated deposit was not found')
    return { result: deposit, isReplayed }
  },
)
