import type { DueTime, WallTime } from '../../src/core/ids.ts'
import { dueAfter, wallClockOf } from '../../src/core/ids.ts'

/** A number of milliseconds since 1970 as a wall time. */
export function wallTime(time: number): WallTime {
  return wallClockOf(() => time)()
}

/** The same as a time from which on something is due. */
export function dueTime(time: number): DueTime {
  return dueAfter(0, wallTime(time))
}
