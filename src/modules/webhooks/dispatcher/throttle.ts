import { cpus } from 'node:os'
import { performance } from 'node:perf_hooks'

/** Attempts a second that are always begun, and from how many on they are not counted any more. */
const [minRate, maxRate] = [20, 5_000]

/**
 * What must be left of the machine's processors, and of this process's one thread, for more to be begun than before. Payouts
 * at full load leave up to a third of two processors, because they wait for one another.
 */
const [minMachineIdle, minLoopIdle] = [0.4, 0.2]

/** How often it is looked what is left, and by how much the rate grows and shrinks then. */
const windowMs = 100
const [growthFactor, declineFactor] = [1.2, 0.6]

/** So much is begun together, and then nothing for as long: what ends together is recorded together. */
const burstMs = 100

/** When the next attempt may begin. */
export type Throttle = {
  /** For how many milliseconds none may. */
  readonly waitMs: () => number
  /** Counts one that begins. */
  readonly recordStart: () => void
}

/** What was left for some time, from 0 to 1: of the machine's processors, and of this process's one thread. */
export type IdleCapacity = { readonly machine: number; readonly loop: number }

/**
 * Has attempts yield to whatever else this machine does, as a transfer in the background yields the line (RFC 6817): as long as
 * something of the processor is left there are ever more of them, and ever fewer as soon as there is not. So nobody must know
 * what others do, nor what an attempt costs, here, in the process that records it and in the database.
 *
 * @param room what was left since it was last asked for
 * @param now in milliseconds, by a clock that nobody sets
 */
export function createThrottle(
  room: () => IdleCapacity = createIdleMeter(),
  now: () => number = () => performance.now(),
): Throttle {
  let rate = maxRate
  let lookedAt = now()
  let countedAt = lookedAt
  let left = 1
  return {
    waitMs: () => {
      const time = now()
      if (time - lookedAt >= windowMs) {
        rate = nextRate(rate, room(), (time - lookedAt) / windowMs)
        lookedAt = time
      }
      const most = (burstMs * rate) / 1000
      left = Math.min(left + ((time - countedAt) * rate) / 1000, most)
      countedAt = time
      return rate >= maxRate || left >= 1 ? 0 : Math.ceil(((most - left) * 1000) / rate)
    },
    recordStart: () => {
      left = Math.max(left - 1, 0)
    },
  }
}

/** Attempts a second, after so many windows in which so much was left. */
export function nextRate(rate: number, { machine, loop }: IdleCapacity, windows: number): number {
  const hasRoom = machine >= minMachineIdle && loop >= minLoopIdle
  return hasRoom
    ? Math.min(rate * growthFactor ** windows, maxRate)
    : Math.max(rate * declineFactor ** windows, minRate)
}

/** Measures what was left since the last call. */
function createIdleMeter(): () => IdleCapacity {
  let machine = readCpuTimes()
  let loop = performance.eventLoopUtilization()
  return () => {
    const [machineBefore, loopBefore] = [machine, loop]
    machine = readCpuTimes()
    loop = performance.eventLoopUtilization()
    const all = machine.all - machineBefore.all
    const { utilization } = performance.eventLoopUtilization(loop, loopBefore)
    // Some systems tell nothing of their processors.
    return { machine: all > 0 ? (machine.idle - machineBefore.idle) / all : 1, loop: 1 - utilization }
  }
}

/** What the machine's processors had to do, and nothing to do, since it was started: in milliseconds of all together. */
function readCpuTimes(): { readonly idle: number; readonly all: number } {
  let [idle, all] = [0, 0]
  for (const { times } of cpus()) {
    idle += times.idle
    all += times.idle + times.user + times.sys + times.nice + times.irq
  }
  return { idle, all }
}
