import { AggregatorRegistry, openMetricsContentType } from 'prom-client'

/** What one process has measured: metrics as prom-client has them in JSON, which another process can read. */
export type Snapshot = readonly Metric[]
export type Metric = {
  readonly name: string
  readonly help: string
  readonly type: string
  /** How the values of several processes become one. */
  readonly aggregator: string
  readonly values: readonly { readonly labels: object; readonly value: number; readonly metricName?: string }[]
}

/** A text in the OpenMetrics format, and its media type. */
export type Exposition = { readonly type: string; readonly text: string }

type Labels = Readonly<Record<string, string>>

/** A gauge that is looked up when it is asked for: a value for each set of labels. */
export function gauge(name: string, help: string, values: readonly (readonly [Labels, number])[]): Metric {
  return { name, help, type: 'gauge', aggregator: 'sum', values: values.map(([labels, value]) => ({ labels, value })) }
}

/** All of them as one. */
export async function merged(snapshots: readonly Snapshot[]): Promise<Snapshot> {
  return (await aggregate(snapshots).getMetricsAsJSON()) as unknown as Snapshot
}

/** Those whose values only grow, which must go on counting when their process is gone. */
export function growing(snapshot: Snapshot): Snapshot {
  return snapshot.filter(({ type }) => type !== 'gauge')
}

/** All of them as one, as Prometheus reads it. */
export async function exposed(snapshots: readonly Snapshot[]): Promise<Exposition> {
  return { type: openMetricsContentType, text: await aggregate(snapshots).metrics() }
}

function aggregate(snapshots: readonly Snapshot[]) {
  const registry = AggregatorRegistry.aggregate<typeof openMetricsContentType>([...snapshots])
  registry.setContentType(openMetricsContentType)
  return registry
}
