import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { App, Engine } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import type { Model, Outcome, Step } from './model.ts'
import { expectedOutcome, newModel } from './model.ts'
import { startMerchant } from './model-merchant.ts'
import { openingDeposits, openingWallets, step } from './model-steps.ts'

const runsOn: Record<Engine, number> = { sqlite: 100, postgres: 12 }
/** Merchants of one run, each with steps of its own: what they do at the same time shares a commit. */
const merchantsPerRun = 10
/** Runs that share a database: enough to spread the cost of opening one, few enough that auditing each run is cheap. */
const runsPerDatabase = 5

describe.each(everyEngine)('the ledger on %s', (engine) => {
  const runs = runsOn[engine]
  test(`does what a model on paper does, for ${runs * merchantsPerRun} merchants`, async () => {
    const shared = sharedApp(engine)
    const seen = new Map<string, number>()
    const program = fc.array(step, { minLength: 5, maxLength: 25, size: 'max' })
    await fc.assert(
      fc.asyncProperty(
        fc.array(program, { minLength: merchantsPerRun, maxLength: merchantsPerRun }),
        async (programs) => {
          const { app, fees } = await shared.forNextRun()
          const merchants = await Promise.all(
            programs.map(async (program) => ({ program, ...(await open(app, fees)) })),
          )

          // Each round is one step of every merchant at once; the fees are common to all, so they are set first, in order.
          for (let round = 0; merchants.some(({ program }) => round < program.length); round++) {
            const steps = merchants.flatMap(({ program, ...merchant }) => {
              const step = program[round]
              return step ? [{ step, ...merchant }] : []
            })
            const [feeSteps, others] = [steps.filter(isFee), steps.filter((asked) => !isFee(asked))]
            const asked = [...feeSteps, ...others]
            const expected = asked.map(({ step, model }) => [step, expectedOutcome(model, step)])
            const outcomes: [Step, Outcome][] = []
            for (const { step, run } of feeSteps) outcomes.push([step, await run(step)])
            outcomes.push(
              ...(await Promise.all(
                others.map(async ({ step, run }): Promise<[Step, Outcome]> => [step, await run(step)]),
              )),
            )
            expect(outcomes).toEqual(expected)
            for (const [step, outcome] of outcomes) count(seen, step, outcome)
          }

          for (const { state, model } of merchants) {
            expect(await state()).toEqual({
              balances: model.wallets.map(({ balance }) => balance),
              payouts: model.payouts.map(({ status }) => status),
            })
          }
          await app.expectBooksToBalance()
        },
      ),
      // Shrinking ends before the test's own time limit, so that the seed is always printed.
      { numRuns: runs, interruptAfterTimeLimit: 100_000, markInterruptAsFailure: true },
    )
    // Each of these was reached, so the model was put to the test.
    for (const kind of everyKind) expect([kind, seen.has(kind)]).toEqual([kind, true])
  }, 120_000)
})

const isFee = ({ step }: { step: Step }) => step.kind === 'set fee'

/** A merchant of its own with the money to begin with, and its model. */
async function open(app: App, fees: Model['fees']) {
  const merchant = await startMerchant(app)
  const model = newModel(fees)
  for (const step of openingWallets) expect(await merchant.run(step)).toEqual(expectedOutcome(model, step))
  await Promise.all(openingDeposits.map((step) => merchant.run(step)))
  for (const step of openingDeposits) expectedOutcome(model, step)
  return { ...merchant, model }
}

const everyKind = [
  'deposit',
  'deposit DEPOSIT_REFERENCE_REUSED',
  'deposit BALANCE_LIMIT_EXCEEDED',
  'payout',
  'payout again',
  'payout IDEMPOTENCY_KEY_REUSED',
  'payout RESOURCE_NOT_FOUND',
  'payout CUSTOMER_CLOSED',
  'payout WALLET_NOT_FOUND',
  'payout INSUFFICIENT_FUNDS',
  'settle COMPLETED',
  'settle FAILED',
  'settle RETURNED',
  'settle PAYOUT_STATUS_CONFLICT',
  'open wallet CUSTOMER_CLOSED',
]

function count(seen: Map<string, number>, step: Step, outcome: Outcome): void {
  let kind: string = step.kind
  if (step.kind === 'settle') kind += ` ${step.status}`
  if (typeof outcome === 'object') {
    if ('refusal' in outcome) kind = `${step.kind} ${outcome.refusal}`
    if ('isReplayed' in outcome && outcome.isReplayed) kind += ' again'
  }
  seen.set(kind, (seen.get(kind) ?? 0) + 1)
}

/** One app for a number of runs, with the fees that are in force in it: they are the service's, not a merchant's. */
function sharedApp(engine: Engine) {
  let runsLeft = 0
  let app: App
  let fees: Model['fees']
  return {
    async forNextRun() {
      if (runsLeft-- === 0) {
        runsLeft = runsPerDatabase - 1
        let time = Date.parse('2026-01-01T00:00:00.000Z')
        // Every look at the clock is a millisecond later, so that no two fees are set for the same time.
        app = await startApp(engine, { clock: () => ++time })
        fees = new Map()
      }
      return { app, fees }
    },
  }
}
