import type { CountedTransfer } from '../payout-statistics/balance-changes.ts'
import type { CountedPayout, StatusChange } from '../payout-statistics/payout-statistics.ts'
import { statusReachedBy } from '../payout-statistics/payout-statistics.ts'
import type { HistoryRow } from './hashed-columns.ts'
import type { SettledPayoutColumns } from './repository.ts'

export function* statusChangesIn(rows: readonly (HistoryRow & SettledPayoutColumns)[]): Generator<StatusChange> {
  for (const row of rows) {
    const status = statusReachedBy(row.eventsType)
    const isCreation = status === 'PROCESSING'
    const payout = isCreation ? createdPayout(row) : settledPayout(row)
    // Skips an event whose payout does not exist. The audit reports the event.
    if (status !== undefined && payout !== null) yield { status, time: Number(row.eventsTime), payout }
  }
}

export function* transfersIn(rows: readonly HistoryRow[]): Generator<CountedTransfer> {
  for (const row of rows) {
    if (row.transfersId === null) continue
    yield {
      kind: row.transfersKind as CountedTransfer['kind'],
      assetCode: row.transfersAssetCode as string,
      amount: row.transfersAmount as bigint,
      fee: row.transfersFee as bigint,
      createdAt: row.transfersCreatedAt as string,
    }
  }
}

function createdPayout(row: HistoryRow): CountedPayout | null {
  if (row.payoutsId === null) return null
  return {
    assetCode: row.payoutsAssetCode as string,
    recipientCurrency: row.payoutsRecipientCurrency as string,
    amount: row.payoutsAmount as bigint,
    fee: row.payoutsFee as bigint | null,
    createdAt: row.payoutsCreatedAt as string,
  }
}

function settledPayout(row: SettledPayoutColumns): CountedPayout | null {
  const { settledAssetCode: assetCode, settledRecipientCurrency: recipientCurrency } = row
  const { settledAmount: amount, settledCreatedAt: createdAt, settledFee: fee } = row
  if (assetCode === null || recipientCurrency === null || amount === null || createdAt === null) return null
  return { assetCode, recipientCurrency, amount, fee, createdAt }
}
