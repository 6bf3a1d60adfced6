import type { CpuInfo } from 'node:os'
import { cpus } from 'node:os'
import { performance } from 'node:perf_hooks'

/** The rates are in delivery attempts per second. `maxRate` means no limit. */
const [minRate, maxRate] = [20, 5_000]

/**
 * The minimum idle shares of the machine and of the event loop. Below either minimum, the rate of attempts decreases.
 */
const [minMachineIdle, minLoopIdle] = [0.4, 0.2]

const windowMs = 100
const [growthFactor, declineFactor] = [1.2, 0.6]

/** Delivery attempts start in bursts, because attempts that end together are recorded together. */
const burstMs = 100

export type Throttle = {
  readonly waitMs: () => number
  readonly recordStart: () => void
}

/** Processor times in milliseconds since boot. */
type Processor = Pick<CpuInfo, 'times'>

export type IdleCapacity = { readonly machine: number; readonly loop: number }

/**
 * The throttle is a token bucket with an adaptive rate. Webhooks are background work, so the rate decreases if other
 * work needs the processors (compare LEDBAT, RFC 6817).
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
    // If the system does not report processor times, the machine counts as idle.
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
