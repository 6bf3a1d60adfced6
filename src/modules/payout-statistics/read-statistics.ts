import { oneUnit } from '../../core/money/amount.ts'
import type { Service } from '../../operations/context.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import type { StatisticsChange } from './payout-statistics.ts'
import { coverageOfMerchants, statisticsByCorridor, statisticsByDay } from './repository.ts'

type Sums = { readonly payoutCount: number; readonly amount: bigint; readonly fee: bigint }

/** Amounts are in 10⁻⁸ units. */
export type DailySum = Pick<StatisticsChange, 'day' | 'assetCode' | 'status'> & Sums

export type CorridorSum = Pick<StatisticsChange, 'assetCode' | 'recipientCurrency' | 'status' | 'durationBucket'> & Sums

/** Days in UTC, for example `2026-03-01`; `from` and `through` are inclusive. */
type DayRange = { readonly from: string; readonly through: string }

/**
 * The cost of reading statistics depends on the number of merchants and days with payouts, not on the number of
 * payouts.
 */
export async function readDailyStatistics({ db }: Service, range: DayRange): Promise<readonly DailySum[]> {
  const sums: DailySum[] = []
  for await (const merchantIds of iterateMerchantIds(db))
    for (const row of await statisticsByDay(db, { merchantIds, ...range })) sums.push(withAmounts(row))
  return sums
}

export async function readCorridorStatistics(
  { db }: Service,
  range: DayRange,
  merchantId?: string,
): Promise<readonly CorridorSum[]> {
  const sums: CorridorSum[] = []
  for await (const merchantIds of merchantId === undefined ? iterateMerchantIds(db) : [[merchantId]]) {
    for (const { durationBucket, ...row } of await statisticsByCorridor(db, { merchantIds, ...range }))
      sums.push({ ...withAmounts(row), durationBucket: Number(durationBucket) })
  }
  return sums
}

type SummedRow = Readonly<Record<'payoutCount' | 'amountUnits' | 'amountRest' | 'feeUnits' | 'feeRest', bigint>>

function withAmounts<Row extends SummedRow>({ amountUnits, amountRest, feeUnits, feeRest, payoutCount, ...key }: Row) {
  return {
    ...key,
    payoutCount: Number(payoutCount),
    amount: BigInt(amountUnits) * oneUnit + BigInt(amountRest),
    fee: BigInt(feeUnits) * oneUnit + BigInt(feeRest),
  }
}

export async function countUncountedEvents({ db }: Service): Promise<number> {
  let events = 0
  for await (const merchantIds of iterateMerchantIds(db)) {
    for (const { latest, through } of await coverageOfMerchants(db, { merchantIds })) events += latest - (through ?? 0)
  }
  return events
}
