import type { StoreMeasured } from './database-metrics.ts'
import { measureStore } from './database-metrics.ts'
import { createInstruments, prefix } from './instruments.ts'
import type { LookedInto, Measuring } from './measure.ts'
import type { Snapshot } from './snapshot.ts'
import { gauge } from './snapshot.ts'
import { measuredBy } from './traffic-metrics.ts'

/** A process that is measured; `snapshot` has what only the database knows where that `isWanted` and it can be read. */
export type MeasuredProcess = {
  readonly measuring: Measuring
  readonly snapshot: (store: { readonly isWanted: boolean }) => Promise<Snapshot>
}

/** How long the database may take: one that is away must not hold up what else is known. */
const storeLimitMs = 1_000

/** Begins to measure this process. */
export function measureProcess({ version }: { readonly version: string }): MeasuredProcess {
  const { snapshot: counts, recorder } = createInstruments()
  let looked: LookedInto | null = null
  let looking: Promise<StoreMeasured> | null = null
  const lookInto: Measuring['lookInto'] = (into) => {
    looked = into
  }
  /** Looks into the database, once for all who ask meanwhile: one that does not answer is not asked again and again. */
  const lookIntoStore = ({ service, rails }: LookedInto): Promise<StoreMeasured> => {
    looking ??= measureStore(service, rails).finally(() => {
      looking = null
    })
    return looking
  }
  return {
    measuring: { ...measuredBy(recorder), lookInto },
    snapshot: async ({ isWanted }) => {
      const counted = await counts()
      const build = { ...gauge(`${prefix}build_info`, 'What runs.', [[buildOf(version), 1]]), aggregator: 'first' }
      if (looked === null) return [...counted, build]
      const { waiting } = looked.service.db.statistics()
      const queue = gauge(`${prefix}write_queue_depth`, 'Operations that wait to be stored.', [[{}, waiting]])
      const stored = isWanted ? await withinLimit(lookIntoStore(looked), looked.onFault) : null
      return [...counted, build, queue, ...(stored === null ? [] : gaugesOf(stored))]
    },
  }
}

function buildOf(version: string) {
  return { version, node: process.versions.node }
}

/** What was found in time. */
async function withinLimit(
  measured: Promise<StoreMeasured>,
  onFault: LookedInto['onFault'],
): Promise<StoreMeasured | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, storeLimitMs, null)
  })
  try {
    return await Promise.race([measured, late])
  } catch (error) {
    onFault(error)
    return null
  } finally {
    clearTimeout(timer)
  }
}

function gaugesOf({ processing, unsealed, unknown, rateAges }: StoreMeasured): Snapshot {
  const by = (label: string, values: ReadonlyMap<string, number>) =>
    [...values].map(([name, value]) => [{ [label]: name }, value] as const)
  return [
    gauge(`${prefix}payouts_processing`, 'Payouts that are on their way.', [[{}, processing.payouts]]),
    gauge(`${prefix}oldest_processing_seconds`, 'Age of the oldest of them.', [[{}, processing.oldestSeconds]]),
    gauge(`${prefix}unsealed_events`, 'Events that no seal holds yet.', [[{}, unsealed.events]]),
    gauge(`${prefix}oldest_unsealed_seconds`, 'Age of the oldest of them.', [[{}, unsealed.oldestSeconds]]),
    gauge(`${prefix}rail_unknown`, 'Orders of which it is not known what became of them.', by('rail', unknown)),
    gauge(`${prefix}rate_age_seconds`, 'How long the rate in force has been so.', by('pair', rateAges)),
  ]
}
