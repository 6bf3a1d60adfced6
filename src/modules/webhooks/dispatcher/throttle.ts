import type { CpuInfo } from 'node:os'
import { cpus } from 'node:os'
import { performance } from 'node:perf_hooks'

/** Attempts per second. At `maxRate`, they are not limited. */
const [minRate, maxRate] = [20, 5_000]

/**
 * The rate shrinks if the idle share of the machine or of the event loop is below these values. Even at full load,
 * payouts leave up to a third of two processors idle, because payouts wait for one another.
 */
const [minMachineIdle, minLoopIdle] = [0.4, 0.2]

const windowMs = 100
const [growthFactor, declineFactor] = [1.2, 0.6]

/** Attempts start in bursts of this length, because attempts that end together are recorded together. */
const burstMs = 100

export type Throttle = {
  readonly waitMs: () => number
  readonly recordStart: () => void
}

/** Processor times in milliseconds since boot. */
type Processor = Pick<CpuInfo, 'times'>

/** The idle shares of the machine and the event loop, from 0 to 1. */
export type IdleCapacity = { readonly machine: number; readonly loop: number }

/**
 * A token bucket with an adaptive rate. Attempts yield to other work on this machine, as a background transfer yields
 * bandwidth (LEDBAT, RFC 6817). The rate grows while the machine has idle time and shrinks when it has none, so the
 * cost of an attempt need not be known.
 *
 * @param measureIdle returns the idle shares since its last call
 * @param now monotonic time in milliseconds
 */
export function createThrottle(
  measureIdle: () => IdleCapacity = createIdleMeter(),
  now: () => number = () => performance.now(),
): Throttle {
  let rate = maxRate
  let measuredAt = now()
  let refilledAt = measuredAt
  let tokens = 1
  return {
    waitMs: () => {
      const time = now()
      if (time - measuredAt >= windowMs) {
        rate = nextRate(rate, measureIdle(), (time - measuredAt) / windowMs)
        measuredAt = time
      }
      const maxTokens = (burstMs * rate) / 1000
      tokens = Math.min(tokens + ((time - refilledAt) * rate) / 1000, maxTokens)
      refilledAt = time
      return rate >= maxRate || tokens >= 1 ? 0 : Math.ceil(((maxTokens - tokens) * 1000) / rate)
    },
    recordStart: () => {
      tokens = Math.max(tokens - 1, 0)
    },
  }
}

export function nextRate(rate: number, { machine, loop }: IdleCapacity, windows: number): number {
  const hasCapacity = machine >= minMachineIdle && loop >= minLoopIdle
  return hasCapacity
    ? Math.min(rate * growthFactor ** windows, maxRate)
    : Math.max(rate * declineFactor ** windows, minRate)
}

export function createIdleMeter(readProcessors: () => readonly Processor[] = cpus): () => IdleCapacity {
  let machine = sumCpuTimes(readProcessors())
  let loop = performance.eventLoopUtilization()
  return () => {
    const [machineBefore, loopBefore] = [machine, loop]
    machine = sumCpuTimes(readProcessors())
    loop = performance.eventLoopUtilization()
    const totalMs = machine.totalMs - machineBefore.totalMs
    const { utilization } = performance.eventLoopUtilization(loop, loopBefore)
    // Some systems do not report processor times.
    return { machine: totalMs > 0 ? (machine.idleMs - machineBefore.idleMs) / totalMs : 1, loop: 1 - utilization }
  }
}

function sumCpuTimes(processors: readonly Processor[]): { readonly idleMs: number; readonly totalMs: number } {
  let [idleMs, totalMs] = [0, 0]
  for (const { times } of processors) {
    idleMs += times.idle
    totalMs += times.idle + times.user + times.sys + times.nice + times.irq
  }
  return { idleMs, totalMs }
}
