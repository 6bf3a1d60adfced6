import type { Expose } from '../../server/http/metrics-endpoint.ts'
import { prefix } from './instruments.ts'
import type { Snapshot } from './snapshot.ts'
import { exposed, gauge } from './snapshot.ts'

/** What processes have measured, with how many of them have answered and how many have not. */
export function expose(
  snapshots: readonly Snapshot[],
  processes: { readonly answered: number; readonly silent: number },
): Expose {
  const { answered, silent } = processes
  const states = [
    [{ state: 'answered' }, answered],
    [{ state: 'silent' }, silent],
  ] as const
  const help = 'Processes of this machine, by whether they answered when they were asked for metrics.'
  return exposed([...snapshots, [gauge(`${prefix}processes`, help, states)]])
}
