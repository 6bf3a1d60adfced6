import { oneUnit } from '../../core/money/amount.ts'
import type { RowOf } from '../../database/tables.ts'
import { balanceChangeOf } from '../ledger/entry.ts'

/**
 * A row has the sum of the balance changes of a merchant's wallets in one asset on one day. `day` is a date in UTC
 * (`2026-03-01`), or `allDays` for the sum of all days.
 */
type DailyBalanceChange = RowOf<'dailyBalanceChanges'>

export type BalanceChange = Omit<DailyBalanceChange, 'merchantId'>

export type CountedTransfer = Pick<RowOf<'transfers'>, 'kind' | 'assetCode' | 'amount' | 'fee' | 'createdAt'>

/** `all` sorts after every date, so a range query from a date includes the row of all days. */
export const allDays = 'all'

/** Returns one change per day and asset. Clearing transfers change no balance. */
export function summarizeTransfers(transfers: Iterable<CountedTransfer>): readonly BalanceChange[] {
  const sums: { readonly day: string; readonly assetCode: string; change: bigint }[] = []
  const add = (day: string, assetCode: string, change: bigint) => {
    const sum = sums.find((each) => each.day === day && each.assetCode === assetCode)
    if (sum === undefined) sums.push({ day, assetCode, change })
    else sum.change += change
  }
  for (const { kind, assetCode, amount, fee, createdAt } of transfers) {
    const change = balanceChangeOf(kind, amount + fee)
    if (change !== 0n) add(createdAt.slice(0, 10), assetCode, change)
  }
  for (const { assetCode, change } of [...sums]) add(allDays, assetCode, change)
  return sums.map(({ day, assetCode, change }) => ({
    ...{ day, assetCode },
    changeUnits: change / oneUnit,
    changeRest: change % oneUnit,
  }))
}
