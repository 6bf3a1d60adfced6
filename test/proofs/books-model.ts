import * as fc from 'fast-check'
import { openDatabase } from '../../src/app/open-database.ts'
import type { Database } from '../../src/database/database.ts'
import { setRate } from '../../src/modules/pricing/rates.ts'
import { createService } from '../../src/operations/context.ts'
import type { Model } from '../modules/ledger/model.ts'
import { assets, currencies, rates } from '../modules/ledger/model.ts'
import { kindOf, runPrograms } from '../modules/ledger/model-run.ts'
import { step } from '../modules/ledger/model-steps.ts'

/** Commands of one run, of several merchants that act at the same time: what they do shares a commit. */
const merchants = 4
const commandsEach = 50
export const commandsPerRun = merchants * commandsEach

/** Runs that share a database: enough to spread the cost of opening one, few enough that auditing each run is cheap. */
const runsPerDatabase = 5

/**
 * Runs random programs against the service and a model on paper, on databases of one engine.
 *
 * @param urlOf the URL of a new database, by its number
 * @param seen gets the kinds of outcomes that there were
 * @returns null, or what was other than in the model
 */
export async function faultOfModel(
  urlOf: (number: number) => Promise<string>,
  { runs, seed, seen }: { runs: number; seed: number; seen: Set<string> },
): Promise<string | null> {
  const program = fc.array(step, { minLength: commandsEach, maxLength: commandsEach, size: 'max' })
  const programs = fc.array(program, { minLength: merchants, maxLength: merchants })
  const shared = sharedService(urlOf)
  const found = await fc.check(
    fc.asyncProperty(programs, async (programs) => {
      const { service, fees } = await shared.forNextRun()
      await runPrograms(service, { fees, programs, onOutcome: (step, outcome) => seen.add(kindOf(step, outcome)) })
    }),
    // What is wrong need not be made small: a run with the same seed meets it again.
    { numRuns: runs, seed, endOnFailure: true },
  )
  await shared.close()
  return found.failed ? String(found.errorInstance).replaceAll(/\s+/g, ' ').slice(0, 300) : null
}

/** One service for a number of runs, with the fees that are in force there: they are the service's, not a merchant's. */
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
    // Every look at the clock is a millisecond later, so that no two fees are set for the same time.
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
