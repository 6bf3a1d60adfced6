import { minIdAt } from '../../../core/ids-and-clock.ts'
import type { Service } from '../../../operations/context.ts'
import type { RailOrderState } from '../../rail-orders/rail-order.ts'
import { recentRailOrderCounts } from '../repository.ts'

export type RecentOrders = {
  readonly rail: string
  readonly total: number
  readonly count: (...states: readonly RailOrderState[]) => number
}

export const maxRecentOrders = 1_000

/** Counts at most the newest `maxRecentOrders` rail orders of all merchants in the last `forMs` milliseconds. */
export async function countRecentOrders(
  { db, wallClock }: Service,
  { forMs }: { forMs: number },
): Promise<readonly RecentOrders[]> {
  const rows = await recentRailOrderCounts(db, { from: minIdAt(wallClock() - forMs), limit: maxRecentOrders })
  return [...Map.groupBy(rows, ({ rail }) => rail)].map(([rail, counts]) => {
    const sum = (some: typeof counts) => some.reduce((total, { rowCount }) => total + Number(rowCount), 0)
    return {
      rail,
      total: sum(counts),
      count: (...states) => sum(counts.filter(({ state }) => states.includes(state))),
    }
  })
}
