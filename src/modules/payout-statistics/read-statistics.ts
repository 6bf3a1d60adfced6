import { oneUnit } from '../../core/money/amount.ts'
import type { Service } from '../../operations/context.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import type { StatisticsChange } from './payout-statistics.ts'
import { coverageOfMerchants, statisticsSince } from './repository.ts'

/** The statistics of merchants together; amounts in 10⁻⁸ units. */
export type StatisticsSum = Pick<
  StatisticsChange,
  'day' | 'assetCode' | 'recipientCurrency' | 'status' | 'durationBucket' | 'payoutCount'
> & { readonly amount: bigint; readonly fee: bigint }

/**
 * Sums the statistics of all merchants, or of one, from a day on, for an operator. Reads some rows for each merchant and day with payouts,
 * however many payouts there are.
 *
 * @param from in UTC, such as `2026-03-01`
 */
export async function readStatistics(
  { db }: Service,
  from: string,
  merchantId?: string,
): Promise<readonly StatisticsSum[]> {
  const sums: StatisticsSum[] = []
  for await (const merchantIds of merchantId === undefined ? iterateMerchantIds(db) : [[merchantId]]) {
    for (const row of await statisticsSince(db, { merchantIds, from })) {
      const { amountUnits, amountRest, feeUnits, feeRest, payoutCount, durationBucket, ...key } = row
      sums.push({
        ...key,
        durationBucket: Number(durationBucket),
        payoutCount: Number(payoutCount),
        amount: BigInt(amountUnits) * oneUnit + BigInt(amountRest),
        fee: BigInt(feeUnits) * oneUnit + BigInt(feeRest),
      })
    }
  }
  return sums
}

/** Returns the number of events of all merchants that the statistics lack. */
export async function countUncountedEvents({ db }: Service): Promise<number> {
  let events = 0
  for await (const merchantIds of iterateMerchantIds(db)) {
    for (const { latest, through } of await coverageOfMerchants(db, { merchantIds })) events += latest - (through ?? 0)
  }
  return events
}
