import { amountFromParts } from '../../core/money/amount.ts'
import type { Reader } from '../../database/query.ts'
import { allMerchants } from '../merchants/repository.ts'
import type { StatisticsChange, StatusChange } from '../payout-statistics/payout-statistics.ts'
import { statusReachedBy, summarizeStatusChanges } from '../payout-statistics/payout-statistics.ts'
import { cursorOfMerchant, statisticsOfMerchant, statusTimes } from '../payout-statistics/repository.ts'

const eventsPerBatch = 20_000

export async function findWrongStatistics(db: Reader): Promise<readonly { readonly id: string }[]> {
  const wrong: { id: string }[] = []
  for (const { id: merchantId } of await allMerchants(db, {})) {
    const through = (await cursorOfMerchant(db, { merchantId }))?.through ?? 0
    const differences = new Map<string, bigint[]>()
    for (const { merchantId: _, ...stored } of await statisticsOfMerchant(db, { merchantId }))
      addSums(differences, stored, -1n)
    for (let after = 0; after < through; after += eventsPerBatch) {
      const range = { merchantId, after, through: Math.min(after + eventsPerBatch, through) }
      for (const change of summarizeStatusChanges(statusChangesOf(await statusTimes(db, range))))
        addSums(differences, change, 1n)
    }
    for (const [key, sums] of differences)
      if (sums.some((sum) => sum !== 0n)) wrong.push({ id: `${merchantId} ${key}` })
  }
  return wrong
}

function addSums(differences: Map<string, bigint[]>, change: StatisticsChange, sign: bigint): void {
  const { day, assetCode, recipientCurrency, status, durationBucket } = change
  const key = `${day} ${assetCode}/${recipientCurrency} ${status} ${durationBucket}`
  const { payoutCount, amountUnits, amountRest, feeUnits, feeRest } = change
  // Compares whole amounts, because equal amounts can be split into units and remainder in different ways.
  const sums = [BigInt(payoutCount), amountFromParts(amountUnits, amountRest), amountFromParts(feeUnits, feeRest)]
  const before = differences.get(key)
  differences.set(
    key,
    sums.map((sum, place) => (before?.[place] ?? 0n) + sign * sum),
  )
}

function* statusChangesOf(rows: Awaited<ReturnType<typeof statusTimes>>): Generator<StatusChange> {
  for (const { type, settledAt, ...payout } of rows) {
    const status = statusReachedBy(type)
    const isCreation = status === 'PROCESSING'
    const at = isCreation ? payout.createdAt : settledAt
    if (status !== undefined && at !== null) yield { status, time: Date.parse(at), payout }
  }
}
