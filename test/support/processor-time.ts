import { readdirSync, readFileSync } from 'node:fs'

type ProcessStatus = {
  readonly pid: number
  readonly parent: number
  readonly name: string
  readonly ticks: number
  /** Ticks of its ended child processes. */
  readonly endedTicks: number
}

/** Ticks are hundredths of a second for every program on Linux. */
const tickMs = 10

/** Returns the CPU ticks of a process from /proc, or `null` if it has ended. */
export function statusOf(pid: number): ProcessStatus | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const end = text.lastIndexOf(')')
    const fields = text.slice(end + 2).split(' ')
    const name = text.slice(text.indexOf('(') + 1, end)
    const [ticks, endedTicks] = [Number(fields[11]) + Number(fields[12]), Number(fields[13]) + Number(fields[14])]
    return { pid, parent: Number(fields[1]), name, ticks, endedTicks }
  } catch {
    return null
  }
}

/** Returns a process and its descendants. */
export function processesUnder(root: number): number[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statusOf(Number(name)))
    .filter((status) => status !== null)
  const childrenOf = Map.groupBy(all, ({ parent }) => parent)
  const under = (pid: number): number[] => [pid, ...(childrenOf.get(pid) ?? []).flatMap((child) => under(child.pid))]
  return under(root)
}

/** Returns the CPU time of a process in milliseconds. */
export function processorTimeOf(pid: number): number {
  return (statusOf(pid)?.ticks ?? 0) * tickMs
}

/** Returns the CPU time of a process with its ended children, in milliseconds. */
export function processorTimeWithEnded(pid: number): number {
  const status = statusOf(pid)
  return status === null ? 0 : (status.ticks + status.endedTicks) * tickMs
}
