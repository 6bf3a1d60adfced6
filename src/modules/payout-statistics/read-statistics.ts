import { oneUnit } from '../../core/money/amount.ts'
import type { Service } from '../../operations/context.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import type { StatisticsChange } from './payout-statistics.ts'
import { coverageOfMerchants, creationsByAsset, statisticsByCorridor, statisticsByDay } from './repository.ts'

/** `amount` is in units of 10⁻⁸. */
type Sums = { readonly payoutCount: number; readonly amount: bigint }

export type DailySum = Pick<StatisticsChange, 'day' | 'assetCode' | 'status'> & Sums

export type CreatedSum = Pick<StatisticsChange, 'assetCode'> & Sums

/** `fee` is in units of 10⁻⁸. */
export type CorridorSum = Pick<StatisticsChange, 'assetCode' | 'recipientCurrency' | 'status' | 'durationBucket'> &
  Sums & { readonly fee: bigint }

/** Days in UTC, for example `2026-03-01`; `from` and `through` are inclusive. */
type DayRange = { readonly from: string; readonly through: string }

export async function readDailyStatistics({ db }: Service, range: DayRange): Promise<readonly DailySum[]> {
  const sums: DailySum[] = []
  for await (const merchantIds of iterateMerchantIds(db))
    for (const row of await statisticsByDay(db, { merchantIds, ...range })) sums.push(withAmount(row))
  return sums
}

export async function readCreatedSums({ db }: Service, range: DayRange): Promise<readonly CreatedSum[]> {
  const sums: CreatedSum[] = []
  for await (const merchantIds of iterateMerchantIds(db))
    for (const row of await creationsByAsset(db, { merchantIds, ...range })) sums.push(withAmount(row))
  return sums
}

export async function readCorridorStatistics(
  { db }: Service,
  range: DayRange,
  merchantId?: string,
): Promise<readonly CorridorSum[]> {
  const sums: CorridorSum[] = []
  for await (const merchantIds of merchantId === undefined ? iterateMerchantIds(db) : [[merchantId]]) {
    for (const { durationBucket, feeUnits, feeRest, ...row } of await statisticsByCorridor(db, {
      merchantIds,
      ...range,
    })) {
      const fee = BigInt(feeUnits) * oneUnit + BigInt(feeRest)
      sums.push({ ...withAmount(row), fee, durationBucket: Number(durationBucket) })
    }
  }
  return sums
}

type SummedRow = Readonly<Record<'payoutCount' | 'amountUnits' | 'amountRest', bigint>>

function withAmount<Row extends SummedRow>({ amountUnits, amountRest, payoutCount, ...key }: Row) {
  return {
    ...key,
    payoutCount: Number(payoutCount),
    amount: BigInt(amountUnits) * oneUnit + BigInt(amountRest),
  }
}

export type Coverage = {
  readonly uncountedEvents: number
  /**
   * `isCaughtUp` is false while the service still counts old events, after an upgrade or a rebuild. The balances are
   * wrong while `isCaughtUp` is false.
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
