import type { ChildProcess } from 'node:child_process'
import type { MetricsSnapshot } from '../../observability/metrics/snapshot.ts'
import { excludeGauges, mergeSnapshots, renderMetrics } from '../../observability/metrics/snapshot.ts'
import type { WriteMetrics } from '../../server/http/metrics-endpoint.ts'
import type { MessageFromSupervisor, MessageToSupervisor } from './messages.ts'

/** A process waits up to one second for the database, so `snapshotTimeoutMs` is longer. */
const snapshotTimeoutMs = 2_000

type MetricsChild = {
  readonly child: ChildProcess
  readonly canRead: boolean
  /** `latest` contains no gauges, because the gauges of an earlier scrape are outdated. */
  latest: MetricsSnapshot
}

/**
 * Counters must not decrease, so the totals include the last known counters of processes that have ended or do not
 * respond. When a process ends, the process's counts since the last scrape are lost.
 */
export function createMetricsCollector(): {
  readonly add: (child: ChildProcess, can: { readonly canRead: boolean }) => void
  readonly expose: () => Promise<WriteMetrics>
} {
  const processes = new Set<MetricsChild>()
  const pending = new Map<number, (snapshot: MetricsSnapshot) => void>()
  let ended: readonly MetricsSnapshot[] = []
  let lastId = 0

  function requestSnapshot({ child }: MetricsChild, isWanted: boolean): Promise<MetricsSnapshot | null> {
    const id = ++lastId
    return new Promise((resolve) => {
      const end = (snapshot: MetricsSnapshot | null) => {
        clearTimeout(timer)
        pending.delete(id)
        resolve(snapshot)
      }
      const timer = setTimeout(end, snapshotTimeoutMs, null)
      pending.set(id, end)
      if (!child.connected) return end(null)
      child.send({ id, measure: { isWanted } } satisfies MessageFromSupervisor, (error) => error && end(null))
    })
  }

  async function collectSnapshot(metricsChild: MetricsChild, isWanted: boolean): Promise<MetricsSnapshot | null> {
    const snapshot = await requestSnapshot(metricsChild, isWanted)
    if (snapshot === null) return null
    // If the process has ended since the request, `ended` already contains the process's counters.
    if (processes.has(metricsChild)) metricsChild.latest = excludeGauges(snapshot)
    return snapshot
  }

  return {
    add: (child, { canRead }) => {
      const own: MetricsChild = { child, canRead, latest: [] }
      processes.add(own)
      child.on('message', (message: MessageToSupervisor) => {
        if ('measured' in message) pending.get(message.id)?.(message.measured)
      })
      child.once('exit', () => {
        processes.delete(own)
        ended = [...ended, own.latest]
      })
    },
    expose: async () => {
      const all = [...processes]
      const reader = all.find(({ canRead }) => canRead)
      const answers = await Promise.all(all.map((each) => collectSnapshot(each, each === reader)))
      const merged = ended
      const total = await mergeSnapshots(merged)
      // No `await` may follow. If a process ended during an `await`, the process would be counted twice, as alive and
      // as ended.
      ended = [total, ...ended.slice(merged.length)]
      const alive = all.flatMap((each, index) => (processes.has(each) ? [{ ...each, answer: answers[index] }] : []))
      const silent = alive.filter(({ answer }) => answer === null).length
      const snapshots = alive.map(({ answer, latest }) => answer ?? latest)
      return renderMetrics([...ended, ...snapshots], { answered: alive.length - silent, silent })
    },
  }
}
