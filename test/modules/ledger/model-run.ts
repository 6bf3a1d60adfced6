import { deepStrictEqual } from 'node:assert/strict'
import { auditBooks } from '../../../src/modules/audit/audit.ts'
import type { Service } from '../../../src/operations/context.ts'
import type { Model, Outcome, Step } from './model.ts'
import { expectedOutcome, newModel } from './model.ts'
import { startMerchant } from './model-merchant.ts'
import { openingDeposits, openingWallets } from './model-steps.ts'

/** One program for each merchant; `fees` are those in force in this database. */
export type Programs = {
  readonly fees: Model['fees']
  readonly programs: readonly (readonly Step[])[]
  readonly onOutcome: (step: Step, outcome: Outcome) => void
}

/**
 * Runs each program as a new merchant, all concurrently, so that their operations share commits.
 *
 * @throws if a result differs from the model's, or the books do not balance
 */
export async function runPrograms(service: Service, { fees, programs, onOutcome }: Programs): Promise<void> {
  const merchants = await Promise.all(
    programs.map(async (program) => ({ program, ...(await openMerchant(service, fees)) })),
  )

  // Each round is one concurrent step of every merchant. Fees are shared, so they are set first, in order.
  for (let round = 0; merchants.some(({ program }) => round < program.length); round++) {
    const steps = merchants.flatMap(({ program, ...merchant }) => {
      const step = program[round]
      return step ? [{ step, ...merchant }] : []
    })
    const [feeSteps, others] = [steps.filter(isFee), steps.filter((each) => !isFee(each))]
    const ordered = [...feeSteps, ...others]
    const expected = ordered.map(({ step, model }) => [step, expectedOutcome(model, step)])
    const outcomes: [Step, Outcome][] = []
    for (const { step, run } of feeSteps) outcomes.push([step, await run(step)])
    outcomes.push(
      ...(await Promise.all(others.map(async ({ step, run }): Promise<[Step, Outcome]> => [step, await run(step)]))),
    )
    deepStrictEqual(outcomes, expected)
    for (const [step, outcome] of outcomes) onOutcome(step, outcome)
  }

  for (const { state, model } of merchants) {
    deepStrictEqual(await state(), {
      balances: model.wallets.map(({ balance }) => balance),
      payouts: model.payouts.map(({ status }) => status),
    })
  }
  const { findings } = await auditBooks(service)
  deepStrictEqual(
    findings.filter(({ contradictions }) => contradictions > 0),
    [],
  )
}

const isFee = ({ step }: { step: Step }) => step.kind === 'set fee'

async function openMerchant(service: Service, fees: Model['fees']) {
  const merchant = await startMerchant(service)
  const model = newModel(fees)
  for (const step of openingWallets) deepStrictEqual(await merchant.run(step), expectedOutcome(model, step))
  await Promise.all(openingDeposits.map((step) => merchant.run(step)))
  for (const step of openingDeposits) expectedOutcome(model, step)
  return { ...merchant, model }
}

/** The kinds of outcomes that the programs must reach to test the model. */
export const everyKind = [
  'deposit',
  'deposit DEPOSIT_REFERENCE_REUSED',
  'deposit BALANCE_LIMIT_EXCEEDED',
  'reverse',
  'reverse RESOURCE_NOT_FOUND',
  'reverse INVALID_INPUT',
  'reverse INSUFFICIENT_FUNDS',
  'payout',
  'payout again',
  'payout IDEMPOTENCY_KEY_REUSED',
  'payout RESOURCE_NOT_FOUND',
  'payout CUSTOMER_CLOSED',
  'payout INVALID_INPUT',
  'payout WALLET_NOT_FOUND',
  'payout INSUFFICIENT_FUNDS',
  'settle COMPLETED',
  'settle FAILED',
  'settle RETURNED',
  'settle PAYOUT_STATUS_CONFLICT',
  'open wallet CUSTOMER_CLOSED',
  'change status',
]

export function kindOf(step: Step, outcome: Outcome): string {
  if (typeof outcome === 'object') {
    if ('refusal' in outcome) return `${step.kind} ${outcome.refusal}`
    if ('isReplayed' in outcome && outcome.isReplayed) return `${step.kind} again`
  }
  return step.kind === 'settle' ? `settle ${step.status}` : step.kind
}
