import { oneUnit } from '../../core/money/amount.ts'
import type { RowOf } from '../../database/tables.ts'
import type { PayoutStatus } from '../payouts/payout.ts'
import { bucketOfDuration, noDuration } from './duration-buckets.ts'

/**
 * A statistics row counts the payouts of a merchant that reached a status on a day in UTC, and sums the amounts and
 * fees of these payouts. A payout counts once for each status that it reached: a returned payout counts as `PROCESSING`
 * (created), `COMPLETED` and `RETURNED`.
 */
type PayoutStatistics = RowOf<'payoutStatistics'>

export type StatisticsChange = Omit<PayoutStatistics, 'merchantId'>

/** Amounts are in 10⁻⁸ units. */
export type CountedPayout = {
  readonly assetCode: string
  readonly recipientCurrency: string
  readonly amount: bigint
  readonly fee: bigint | null
  readonly createdAt: string
}

/** `time` is in milliseconds since 1970. */
export type StatusChange = { readonly status: PayoutStatus; readonly time: number; readonly payout: CountedPayout }

const dayMs = 86_400_000

export function summarizeStatusChanges(changes: Iterable<StatusChange>): readonly StatisticsChange[] {
  const sums: MutableSum[] = []
  for (const { status, time, payout } of changes) {
    const { assetCode, recipientCurrency, amount, fee, createdAt } = payout
    const dayNumber = Math.floor(time / dayMs)
    const isCompletion = status === 'COMPLETED'
    const durationBucket = isCompletion ? bucketOfDuration(time - Date.parse(createdAt)) : noDuration
    // For few sums, searching an array is faster than building a key for a map.
    let sum = sums.find(
      (each) =>
        each.dayNumber === dayNumber &&
        each.durationBucket === durationBucket &&
        each.status === status &&
        each.recipientCurrency === recipientCurrency &&
        each.assetCode === assetCode,
    )
    if (sum === undefined) {
      sum = { dayNumber, assetCode, recipientCurrency, status, durationBucket, payoutCount: 0, amount: 0n, fee: 0n }
      sums.push(sum)
    }
    sum.payoutCount++
    sum.amount += amount
    if (fee !== null) sum.fee += fee
  }
  return sums.map(({ dayNumber, amount, fee, ...sum }) => ({
    ...sum,
    day: new Date(dayNumber * dayMs).toISOString().slice(0, 10),
    amountUnits: amount / oneUnit,
    amountRest: amount % oneUnit,
    feeUnits: fee / oneUnit,
    feeRest: fee % oneUnit,
  }))
}

type MutableSum = Pick<StatisticsChange, 'assetCode' | 'recipientCurrency' | 'status' | 'durationBucket'> & {
  readonly dayNumber: number
  payoutCount: number
  amount: bigint
  fee: bigint
}

export function statusReachedBy(type: unknown): PayoutStatus | undefined {
  return (statusByEventType as Readonly<Record<string, PayoutStatus>>)[String(type)]
}

const statusByEventType = {
  'payout.initiated': 'PROCESSING',
  'payout.completed': 'COMPLETED',
  'payout.failed': 'FAILED',
  'payout.returned': 'RETURNED',
} as const
