import { amountFromParts } from '../../core/money/amount.ts'
import type { Service } from '../../operations/context.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import type { StatisticsChange } from './payout-statistics.ts'
import {
  countedEventsOf,
  coverageOfMerchants,
  creationsByAsset,
  payoutCountWithin,
  statisticsByCorridor,
  statisticsByDay,
} from './repository.ts'

/** `amount` is in units of 10⁻⁸. */
type Sums = { readonly payoutCount: number; readonly amount: bigint }

export type DailySum = Pick<StatisticsChange, 'day' | 'assetCode' | 'status'> & Sums

type CreatedSum = Pick<StatisticsChange, 'assetCode'> & Sums

/** `fee` is in units of 10⁻⁸. */
export type CorridorSum = Pick<StatisticsChange, 'assetCode' | 'recipientCurrency' | 'status' | 'durationBucket'> &
  Sums & { readonly fee: bigint }

/** Days in UTC, for example `2026-03-01`; `from` and `through` are inclusive. */
type DayRange = { readonly from: string; readonly through: string }

/** The statistics of a period of consecutive days. Several sums may have the same keys. */
export type PeriodStatistics = {
  readonly sums: readonly CorridorSum[]
  readonly daily: readonly DailySum[]
  /** The sums of the last day. */
  readonly ofToday: readonly CorridorSum[]
  /** The sums of the preceding period of the same length. */
  readonly before: readonly CreatedSum[]
}

/** @param days consecutive days in UTC, such as `2026-03-01`, first of the preceding period and then of the period */
export type PeriodReader = (
  service: Service,
  days: Readonly<Record<'before' | 'period', readonly string[]>>,
) => Promise<PeriodStatistics>

const maxCacheAgeMs = 600_000

type FinishedDays = Pick<PeriodStatistics, 'sums' | 'daily' | 'before'>

type FinishedDaysCache = {
  readonly key: string
  readonly countedEvents: number
  readonly payoutCount: number
  readonly days: FinishedDays
}

/**
 * Creates a reader that caches the sums of all days except the last. If further events were counted, the cache is valid
 * only if the number of payouts on these days is the same, because every event that is counted later increases that
 * number. A rebuild of the statistics can correct sums without changing that number, so the cache is valid for at most
 * ten minutes. The cost of a read depends on the number of merchants and days with payouts, but not on the number of
 * payouts.
 */
export function createPeriodReader(): PeriodReader {
  let cached: FinishedDaysCache | null = null
  return async (service, { before, period }) => {
    const finished = { from: before[0] ?? '', through: period.at(-2) ?? '' }
    const interval = Math.floor(service.wallClock() / maxCacheAgeMs)
    const key = [finished.from, period[0], finished.through, interval].join()
    // Events that are counted during the next reads must change this number in the next request.
    const countedEvents = await sumCountedEvents(service)
    let current = cached?.key === key ? cached : null
    if (current?.countedEvents !== countedEvents) {
      const payoutCount = await countPayouts(service, finished)
      const days =
        current?.payoutCount === payoutCount ? current.days : await readFinishedDays(service, { before, period })
      current = { key, countedEvents, payoutCount, days }
      cached = current
    }
    const { sums, daily, before: sumsBefore } = current.days
    const today = period.at(-1) ?? ''
    const ofToday = await readCorridorStatistics(service, { from: today, through: today })
    return {
      before: sumsBefore,
      sums: [...sums, ...ofToday],
      daily: [...daily, ...ofToday.map((sum) => ({ ...sum, day: today }))],
      ofToday,
    }
  }
}

async function sumCountedEvents({ db }: Service): Promise<number> {
  let count = 0
  for await (const merchantIds of iterateMerchantIds(db))
    count += Number((await countedEventsOf(db, { merchantIds }))?.count ?? 0)
  return count
}

async function countPayouts({ db }: Service, range: DayRange): Promise<number> {
  let count = 0
  for await (const merchantIds of iterateMerchantIds(db))
    count += Number((await payoutCountWithin(db, { merchantIds, ...range }))?.payoutCount ?? 0)
  return count
}

async function readFinishedDays(
  service: Service,
  { before, period }: Parameters<PeriodReader>[1],
): Promise<FinishedDays> {
  const range = { from: period[0] ?? '', through: period.at(-2) ?? '' }
  const daily: DailySum[] = []
  const created: CreatedSum[] = []
  for await (const merchantIds of iterateMerchantIds(service.db)) {
    for (const row of await statisticsByDay(service.db, { merchantIds, ...range })) daily.push(withAmount(row))
    const rangeBefore = { from: before[0] ?? '', through: before.at(-1) ?? '' }
    for (const row of await creationsByAsset(service.db, { merchantIds, ...rangeBefore })) created.push(withAmount(row))
  }
  return { sums: await readCorridorStatistics(service, range), daily, before: created }
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
      const fee = amountFromParts(feeUnits, feeRest)
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
    amount: amountFromParts(amountUnits, amountRest),
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
