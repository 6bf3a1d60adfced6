import type { DueTime, WallTime } from '../../src/core/ids-and-clock.ts'
import { createWallClock, dueTimeAfter } from '../../src/core/ids-and-clock.ts'

/** A number of milliseconds since 1970 as a wall time. */
export function wallTime(time: number): WallTime {
  return createWallClock(() => time)()
}

/** A number of milliseconds since 1970 as a due time. */
export function dueTime(time: number): DueTime {
  return dueTimeAfter(0, wallTime(time))
}
