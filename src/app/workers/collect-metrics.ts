import type { ChildProcess } from 'node:child_process'
import type { MetricsSnapshot } from '../../observability/metrics/snapshot.ts'
import { excludeGauges, mergeSnapshots, renderMetrics } from '../../observability/metrics/snapshot.ts'
import type { WriteMetrics } from '../../server/http/metrics-endpoint.ts'
import type { MessageFromSupervisor, MessageToSupervisor } from './messages.ts'

/** How long a process may take to tell what it has measured: longer than the database may take it. */
const snapshotTimeoutMs = 2_000

type MetricsChild = {
  readonly child: ChildProcess
  readonly canRead: boolean
  /** What it told last, of what only grows. */
  latest: MetricsSnapshot
}

/**
 * Asks processes what they have measured, and adds it up.
 *
 * What grows must not become less: of a process that does not answer what it told last counts on, and so it does when it is
 * gone. What that had counted since it was last asked is lost with it.
 */
export function createMetricsCollector(): {
  readonly add: (child: ChildProcess, can: { readonly canRead: boolean }) => void
  readonly expose: () => Promise<WriteMetrics>
} {
  const processes = new Set<MetricsChild>()
  const asked = new Map<number, (snapshot: MetricsSnapshot) => void>()
  /** What those that are gone had told. */
  let gone: readonly MetricsSnapshot[] = []
  let lastId = 0

  function requestSnapshot({ child }: MetricsChild, isWanted: boolean): Promise<MetricsSnapshot | null> {
    const id = ++lastId
    return new Promise((resolve) => {
      const end = (snapshot: MetricsSnapshot | null) => {
        clearTimeout(late)
        asked.delete(id)
        resolve(snapshot)
      }
      const late = setTimeout(end, snapshotTimeoutMs, null)
      asked.set(id, end)
      if (!child.connected) return end(null)
      child.send({ id, measure: { isWanted } } satisfies MessageFromSupervisor, (error) => error && end(null))
    })
  }

  async function collectSnapshot(each: MetricsChild, isWanted: boolean): Promise<MetricsSnapshot | null> {
    const snapshot = await requestSnapshot(each, isWanted)
    // One that died meanwhile is counted with those that are gone.
    if (snapshot === null) return null
    if (processes.has(each)) each.latest = excludeGauges(snapshot)
    return snapshot
  }

  return {
    add: (child, { canRead }) => {
      const own: MetricsChild = { child, canRead, latest: [] }
      processes.add(own)
      child.on('message', (message: MessageToSupervisor) => {
        if ('measured' in message) asked.get(message.id)?.(message.measured)
      })
      child.once('exit', () => {
        processes.delete(own)
        gone = [...gone, own.latest]
      })
    },
    expose: async () => {
      const all = [...processes]
      // One is enough to look into the database.
      const reader = all.find(({ canRead }) => canRead)
      const answers = await Promise.all(all.map((each) => collectSnapshot(each, each === reader)))
      const summed = gone
      const sum = await mergeSnapshots(summed)
      // From here on nothing is waited for: one that dies is counted as alive, or as gone.
      gone = [sum, ...gone.slice(summed.length)]
      const alive = all.flatMap((each, place) => (processes.has(each) ? [{ ...each, answer: answers[place] }] : []))
      const silent = alive.filter(({ answer }) => answer === null).length
      const snapshots = alive.map(({ answer, latest }) => answer ?? latest)
      return renderMetrics([...gone, ...snapshots], { answered: alive.length - silent, silent })
    },
  }
}
