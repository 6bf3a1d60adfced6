import { oneUnit } from '../../core/money/amount.ts'
import type { Service } from '../../operations/context.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import type { StatisticsChange } from './payout-statistics.ts'
import { coverageOfMerchants, statisticsByCorridor, statisticsByDay } from './repository.ts'

type Sums = { readonly payoutCount: number; readonly amount: bigint; readonly fee: bigint }

/** Amounts are in 10⁻⁸ units. */
export type DailySum = Pick<StatisticsChange, 'day' | 'assetCode' | 'status'> & Sums

export type CorridorSum = Pick<StatisticsChange, 'assetCode' | 'recipientCurrency' | 'status' | 'durationBucket'> & Sums

/** Days in UTC, for example `2026-03-01`; both are inclusive. */
type DayRange = { readonly from: string; readonly through: string }

/** The cost depends on the number of merchants and days with payouts, but not on the number of payouts. */
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

export type Coverage = {
  readonly uncountedEvents: number
  /**
   * False while the history is counted after an upgrade or a rebuild. Then balances are wrong, because the earliest
   * events are counted first.
   */
  readonly isCaughtUp: boolean
}

export async function readCoverage({ db }: Service): Promise<Coverage> {
  let uncountedEvents = 0
  let isCaughtUp = true
  for await (const merchantIds of iterateMerchantIds(db)) {
    for (const { latest, through, sealedThrough } of await coverageOfMerchants(db, { merchantIds })) {
      uncountedEvents += latest - (through ?? 0)
      isCaughtUp &&= (through ?? 0) >= Number(sealedThrough ?? 0)
    }
  }
  return { uncountedEvents, isCaughtUp }
}
