import type { WriteMetrics } from '../../server/http/metrics-endpoint.ts'
import { metricPrefix } from './instruments.ts'
import type { MetricsSnapshot } from './snapshot.ts'
import { createExposition, gauge } from './snapshot.ts'

/** What processes have measured, with how many of them have answered and how many have not. */
export function renderMetrics(
  snapshots: readonly MetricsSnapshot[],
  processes: { readonly answered: number; readonly silent: number },
): WriteMetrics {
  const { answered, silent } = processes
  const states = [
    [{ state: 'answered' }, answered],
    [{ state: 'silent' }, silent],
  ] as const
  const help = 'Processes of this machine, by whether they answered when they were asked for metrics.'
  return createExposition([...snapshots, [gauge(`${metricPrefix}processes`, help, states)]])
}
