import type { RegistryContentType } from 'prom-client'
import { AggregatorRegistry, openMetricsContentType, prometheusContentType } from 'prom-client'
import type { WriteMetrics } from '../../server/http/metrics-endpoint.ts'

export const metricPrefix = 'payout_gateway_'

/** A snapshot has prom-client's JSON format, which processes can send to each other. */
export type MetricsSnapshot = readonly Metric[]
export type Metric = {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly aggregator: string
  readonly values: readonly { readonly labels: object; readonly value: number; readonly metricName?: string }[]
}

const contentTypes = { openMetrics: openMetricsContentType, prometheus: prometheusContentType } as const

type MetricLabels = Readonly<Record<string, string>>

export function gauge(name: string, help: string, values: readonly (readonly [MetricLabels, number])[]): Metric {
  return { name, help, type: 'gauge', aggregator: 'sum', values: values.map(([labels, value]) => ({ labels, value })) }
}

export async function mergeSnapshots(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  return (await aggregateSnapshots(snapshots).getMetricsAsJSON()) as unknown as MetricsSnapshot
}

/** After a process has ended, its counters and histograms still count in the totals. */
export function excludeGauges(snapshot: MetricsSnapshot): MetricsSnapshot {
  return snapshot.filter(({ type }) => type !== 'gauge')
}

function createExposition(snapshots: readonly MetricsSnapshot[]): WriteMetrics {
  return async (format) => {
    const type = contentTypes[format]
    const renamed = snapshots.map((snapshot) =>
      snapshot.map((metric) => ({ ...metric, name: formatMetricName(metric, type) })),
    )
    const registry = aggregateSnapshots(renamed)
    registry.setContentType(type)
    return { type, text: await registry.metrics() }
  }
}

/** prom-client appends `_total` to the names of counters only in the OpenMetrics format. */
function formatMetricName({ name, type }: Metric, contentType: RegistryContentType): string {
  if (type !== 'counter') return name
  const plain = name.replace(/_total$/, '')
  return contentType === openMetricsContentType ? plain : `${plain}_total`
}

function aggregateSnapshots(snapshots: readonly MetricsSnapshot[]) {
  return AggregatorRegistry.aggregate<RegistryContentType>([...snapshots])
}

export function renderMetrics(
  snapshots: readonly MetricsSnapshot[],
  processes: { readonly answered: number; readonly silent: number },
): WriteMetrics {
  const { answered, silent } = processes
  const states = [
    [{ state: 'answered' }, answered],
    [{ state: 'silent' }, silent],
  ] as const
  const help = 'Processes of this machine, by whether they answered the scrape.'
  return createExposition([...snapshots, [gauge(`${metricPrefix}processes`, help, states)]])
}
