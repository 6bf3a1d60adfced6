import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { App, Engine } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import type { Model } from './model.ts'
import { everyKind, kindOf, runPrograms } from './model-run.ts'
import { programOfEveryKind, step } from './model-steps.ts'

/** Enough to find most mistakes; `npm run prove:long -- books-balance` runs a thousand. */
const runsOn: Record<Engine, number> = { sqlite: 12, postgres: 4 }
/** Merchants of one run, which run concurrently and share commits. */
const merchantsPerRun = 10
/** Runs that share a database, to spread the cost of opening one while each audit remains cheap. */
const runsPerDatabase = 5

describe.each(everyEngine)('the ledger on %s', (engine) => {
  const runs = runsOn[engine]
  test(`matches a model in memory for ${runs * merchantsPerRun} merchants`, async () => {
    const shared = sharedApp(engine)
    const reachedKinds = new Set<string>()
    const program = fc.array(step, { minLength: 5, maxLength: 25, size: 'max' })
    await fc.assert(
      fc.asyncProperty(
        fc.array(program, { minLength: merchantsPerRun, maxLength: merchantsPerRun }),
        async (programs) => {
          const { app, fees } = await shared.forNextRun()
          await runPrograms(app.service, {
            fees,
            programs,
            onOutcome: (step, outcome) => reachedKinds.add(kindOf(step, outcome)),
          })
        },
      ),
      // Shrinking ends before the test's own time limit, so that the seed is always printed.
      {
        numRuns: runs,
        examples: [[Array(merchantsPerRun).fill([...programOfEveryKind])]],
        interruptAfterTimeLimit: 250_000,
        markInterruptAsFailure: true,
      },
    )
    expect(everyKind.filter((kind) => !reachedKinds.has(kind))).toEqual([])
  })
})

/** Provides one app for several runs, with the fees in force in it: fees belong to the service, not to a merchant. */
function sharedApp(engine: Engine) {
  let runsLeft = 0
  let app: App
  let fees: Model['fees']
  return {
    async forNextRun() {
      if (runsLeft-- === 0) {
        runsLeft = runsPerDatabase - 1
        let time = Date.parse('2026-01-01T00:00:00.000Z')
        // The clock advances at every call, so no two fees have the same time.
        app = await startApp(engine, { clock: () => ++time })
        fees = new Map()
      }
      return { app, fees }
    },
  }
}
