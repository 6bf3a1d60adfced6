import * as fc from 'fast-check'
import { openDatabase } from '../../src/app/open-database.ts'
import type { Database } from '../../src/database/database.ts'
import { setRate } from '../../src/modules/pricing/rates.ts'
import { createService } from '../../src/operations/context.ts'
import type { Model } from '../modules/ledger/model.ts'
import { assets, currencies, rates } from '../modules/ledger/model.ts'
import { kindOf, runPrograms } from '../modules/ledger/model-run.ts'
import { step } from '../modules/ledger/model-steps.ts'

/** Commands of one run for several concurrent merchants, whose operations share a commit. */
const merchants = 4
const commandsEach = 50
export const commandsPerRun = merchants * commandsEach

/** Runs per database: enough to spread the cost of opening it, few enough for a cheap audit of each run. */
const runsPerDatabase = 5

/**
 * Runs random programs against the service and against a model, on databases of one engine.
 *
 * @param urlOf returns the URL of a new database by its number
 * @param seen collects the kinds of outcomes
 * @returns null, or the first difference from the model
 */
export async function faultOfModel(
  urlOf: (number: number) => Promise<string>,
  { runs, seed, seen }: { runs: number; seed: number; seen: Set<string> },
): Promise<string | null> {
  const program = fc.array(step, { minLength: commandsEach, maxLength: commandsEach, size: 'max' })
  const programs = fc.array(program, { minLength: merchants, maxLength: merchants })
  const shared = sharedService(urlOf)
  const result = await fc.check(
    fc.asyncProperty(programs, async (programs) => {
      const { service, fees } = await shared.forNextRun()
      await runPrograms(service, { fees, programs, onOutcome: (step, outcome) => seen.add(kindOf(step, outcome)) })
    }),
    // Shrinking is unnecessary: a run with the same seed reproduces the failure.
    { numRuns: runs, seed, endOnFailure: true },
  )
  await shared.close()
  return result.failed ? String(result.errorInstance).replaceAll(/\s+/g, ' ').slice(0, 300) : null
}

/** One service for several runs, with its fees, which apply to every merchant. */
function sharedService(urlOf: (number: number) => Promise<string>) {
  let run = 0
  let db: Database | null = null
  let current: { service: ReturnType<typeof createService>; fees: Model['fees'] }

  async function open() {
    await db?.close()
    const url = await urlOf(run)
    db = await openDatabase({
      url,
      onFatal: (error) => {
        throw error
      },
    })
    let time = Date.parse('2026-01-01T00:00:00.000Z')
    // Each reading of the clock adds a millisecond, so that no two fees take effect at the same time.
    const service = createService({ db, mode: 'sandbox', clock: () => ++time })
    for (const fromCode of assets)
      for (const toCode of currencies) await setRate(service, { fromCode, toCode, rate: String(rates[toCode]) })
    return { service, fees: new Map() }
  }

  return {
    async forNextRun() {
      if (run++ % runsPerDatabase === 0) current = await open()
      return current
    },
    close: async () => db?.close(),
  }
}
