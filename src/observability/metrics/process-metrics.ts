import type { DatabaseMetrics } from './database-metrics.ts'
import { measureDatabase } from './database-metrics.ts'
import type { DatabaseMetricsSource, Instrumentation } from './instrumentation.ts'
import { createInstruments } from './instruments.ts'
import type { MetricsSnapshot } from './snapshot.ts'
import { gauge, metricPrefix } from './snapshot.ts'
import { createMetricsInstrumentation } from './traffic-metrics.ts'

/** A process that is measured; `snapshot` has what only the database knows where that `isWanted` and it can be read. */
export type ProcessMetrics = {
  readonly instrumentation: Instrumentation
  readonly snapshot: (store: { readonly isWanted: boolean }) => Promise<MetricsSnapshot>
}

/** How long the database may take: one that is away must not hold up what else is known. */
const databaseTimeoutMs = 1_000

/** Begins to measure this process. */
export function measureProcess({ version }: { readonly version: string }): ProcessMetrics {
  const { snapshot: counts, recorder } = createInstruments()
  let looked: DatabaseMetricsSource | null = null
  let looking: Promise<DatabaseMetrics> | null = null
  const observeDatabase: Instrumentation['observeDatabase'] = (into) => {
    looked = into
  }
  /** Looks into the database, once for all who ask meanwhile: one that does not answer is not asked again and again. */
  const measureDatabaseOnce = ({ service, rails }: DatabaseMetricsSource): Promise<DatabaseMetrics> => {
    looking ??= measureDatabase(service, rails).finally(() => {
      looking = null
    })
    return looking
  }
  return {
    instrumentation: { ...createMetricsInstrumentation(recorder), observeDatabase },
    snapshot: async ({ isWanted }) => {
      const counted = await counts()
      const build = {
        ...gauge(`${metricPrefix}build_info`, 'What runs.', [[buildLabels(version), 1]]),
        aggregator: 'first',
      }
      if (looked === null) return [...counted, build]
      const { queued: waiting } = looked.service.db.statistics()
      const queue = gauge(`${metricPrefix}write_queue_depth`, 'Operations that wait to be stored.', [[{}, waiting]])
      const stored = isWanted ? await withTimeout(measureDatabaseOnce(looked), looked.onError) : null
      return [...counted, build, queue, ...(stored === null ? [] : createDatabaseGauges(stored))]
    },
  }
}

function buildLabels(version: string) {
  return { version, node: process.versions.node }
}

/** What was found in time. */
async function withTimeout(
  measured: Promise<DatabaseMetrics>,
  onFault: DatabaseMetricsSource['onError'],
): Promise<DatabaseMetrics | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, databaseTimeoutMs, null)
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

function createDatabaseGauges({ processing, unsealed, unknown, rateAges }: DatabaseMetrics): MetricsSnapshot {
  const labelValues = (label: string, values: ReadonlyMap<string, number>) =>
    [...values].map(([name, value]) => [{ [label]: name }, value] as const)
  return [
    gauge(`${metricPrefix}payouts_processing`, 'Payouts that are on their way.', [[{}, processing.payouts]]),
    gauge(`${metricPrefix}oldest_processing_seconds`, 'Age of the oldest of them.', [[{}, processing.oldestSeconds]]),
    gauge(`${metricPrefix}unsealed_events`, 'Events that no seal holds yet.', [[{}, unsealed.events]]),
    gauge(`${metricPrefix}oldest_unsealed_seconds`, 'Age of the oldest of them.', [[{}, unsealed.oldestSeconds]]),
    gauge(
      `${metricPrefix}rail_unknown`,
      'Orders of which it is not known what became of them.',
      labelValues('rail', unknown),
    ),
    gauge(`${metricPrefix}rate_age_seconds`, 'How long the rate in force has been so.', labelValues('pair', rateAges)),
  ]
}
