import type { Service } from '../../../operations/context.ts'
import type { RailOrderHistoryEntry, RailOrderState } from '../../rail-orders/rail-order.ts'
import { newestRailOrders } from '../repository.ts'

export const maxMeasuredOrders = 500
const maxFailures = 10

type RailFailure = RailOrderHistoryEntry & { readonly merchantId: string; readonly payoutId: string }

export type RailHealth = {
  readonly orderCount: number
  readonly countsByState: ReadonlyMap<RailOrderState, number>
  /** The times from first submission to completion of the rail's orders in milliseconds, ascending. */
  readonly durationsMs: readonly number[]
  readonly failures: readonly RailFailure[]
  readonly lastAnswerAt: string | null
  readonly lastUnansweredAt: string | null
}

const answeredStates: readonly RailOrderState[] = ['ACCEPTED', 'COMPLETED', 'REJECTED', 'RETURNED']

/** Considers only the newest orders of all rails, so that the cost is limited. */
export async function measureRail({ db }: Service, rail: string): Promise<RailHealth> {
  const orders = (await newestRailOrders(db, { limit: maxMeasuredOrders })).filter((order) => order.rail === rail)
  const steps = orders.flatMap(({ merchantId, payoutId, history }) =>
    (history as readonly RailOrderHistoryEntry[]).map((step) => ({ ...step, merchantId, payoutId })),
  )
  const latest = (isWanted: (step: RailFailure) => boolean) =>
    steps.reduce<string | null>(
      (last, step) => (isWanted(step) && (last === null || step.at > last) ? step.at : last),
      null,
    )
  return {
    orderCount: orders.length,
    countsByState: new Map([...Map.groupBy(orders, ({ state }) => state)].map(([state, some]) => [state, some.length])),
    durationsMs: orders.flatMap(durationOf).toSorted((one, other) => one - other),
    failures: steps
      .filter(({ cause }) => cause !== null)
      .toSorted((one, other) => (one.at > other.at ? -1 : 1))
      .slice(0, maxFailures),
    lastAnswerAt: latest(({ state }) => answeredStates.includes(state)),
    lastUnansweredAt: latest(({ state }) => state === 'UNKNOWN'),
  }
}

function durationOf({ submittedAt, history }: { submittedAt: string | null; history: unknown }): readonly number[] {
  const completed = (history as readonly RailOrderHistoryEntry[]).find(({ state }) => state === 'COMPLETED')
  return submittedAt === null || completed === undefined ? [] : [Date.parse(completed.at) - Date.parse(submittedAt)]
}
