import type { DatabaseMetrics } from './database-metrics.ts'
import { measureDatabase } from './database-metrics.ts'
import type { DatabaseMetricsSource, Instrumentation } from './instrumentation.ts'
import { createInstruments } from './instruments.ts'
import type { MetricsSnapshot } from './snapshot.ts'
import { gauge, metricPrefix } from './snapshot.ts'
import { createMetricsInstrumentation } from './traffic-metrics.ts'

export type ProcessMetrics = {
  readonly instrumentation: Instrumentation
  readonly snapshot: (database: { readonly isWanted: boolean }) => Promise<MetricsSnapshot>
}

/** If the database does not respond within a second, a scrape omits the database metrics. */
const databaseTimeoutMs = 1_000

export function measureProcess({ version }: { readonly version: string }): ProcessMetrics {
  const { snapshot: snapshotInstruments, recorder } = createInstruments()
  let source: DatabaseMetricsSource | null = null
  let measurement: Promise<DatabaseMetrics> | null = null
  const observeDatabase: Instrumentation['observeDatabase'] = (observed) => {
    source = observed
  }
  /**
   * Concurrent scrapes share one measurement of the database, so that measurements do not accumulate on a slow
   * database.
   */
  const measureDatabaseOnce = ({ service, rails }: DatabaseMetricsSource): Promise<DatabaseMetrics> => {
    measurement ??= measureDatabase(service, rails).finally(() => {
      measurement = null
    })
    return measurement
  }
  return {
    instrumentation: { ...createMetricsInstrumentation(recorder), observeDatabase },
    snapshot: async ({ isWanted }) => {
      const instruments = await snapshotInstruments()
      const build = {
        ...gauge(`${metricPrefix}build_info`, 'Version of the service and of Node.js.', [[buildLabels(version), 1]]),
        aggregator: 'first',
      }
      if (source === null) return [...instruments, build]
      const { queued } = source.service.db.statistics()
      const queue = gauge(`${metricPrefix}write_queue_depth`, 'Writes that wait for a commit.', [[{}, queued]])
      const database = isWanted ? await withTimeout(measureDatabaseOnce(source), source.onError) : null
      return [...instruments, build, queue, ...(database === null ? [] : createDatabaseGauges(database))]
    },
  }
}

function buildLabels(version: string) {
  return { version, node: process.versions.node }
}

async function withTimeout(
  measurement: Promise<DatabaseMetrics>,
  onError: DatabaseMetricsSource['onError'],
): Promise<DatabaseMetrics | null> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, databaseTimeoutMs, null)
  })
  try {
    return await Promise.race([measurement, timeout])
  } catch (error) {
    onError(error)
    return null
  } finally {
    clearTimeout(timer)
  }
}

function createDatabaseGauges({ processing, unsealed, unknown, rateAges }: DatabaseMetrics): MetricsSnapshot {
  const valuesBy = (label: string, values: ReadonlyMap<string, number>) =>
    [...values].map(([name, value]) => [{ [label]: name }, value] as const)
  return [
    gauge(`${metricPrefix}payouts_processing`, 'Payouts with status PROCESSING.', [[{}, processing.payouts]]),
    gauge(`${metricPrefix}oldest_processing_seconds`, 'Age of the oldest payout with status PROCESSING.', [
      [{}, processing.oldestSeconds],
    ]),
    gauge(`${metricPrefix}unsealed_events`, 'Events that are not sealed yet.', [[{}, unsealed.events]]),
    gauge(`${metricPrefix}oldest_unsealed_seconds`, 'Age of the oldest event that is not sealed yet.', [
      [{}, unsealed.oldestSeconds],
    ]),
    gauge(`${metricPrefix}rail_unknown`, 'Rail orders whose outcome is unknown.', valuesBy('rail', unknown)),
    gauge(`${metricPrefix}rate_age_seconds`, 'Age of the rate in force.', valuesBy('pair', rateAges)),
  ]
}
