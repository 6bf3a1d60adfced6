import { amountFromParts } from '../../core/money/amount.ts'
import type { Service } from '../../operations/context.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import { allDays } from './balance-changes.ts'
import { balanceChangesSince } from './repository.ts'

/** `balances` has one balance for the end of each day, in units of 10⁻⁸. The last balance is the current balance. */
export type HeldBalances = { readonly assetCode: string; readonly balances: readonly bigint[] }

/**
 * Returns the sum of the balances of all wallets of all merchants for each asset.
 *
 * @param days consecutive days in UTC, such as `2026-03-01`
 */
export async function readHeldBalances({ db }: Service, days: readonly string[]): Promise<readonly HeldBalances[]> {
  const changesByAsset = new Map<string, Map<string, bigint>>()
  for await (const merchantIds of iterateMerchantIds(db)) {
    for (const row of await balanceChangesSince(db, { merchantIds, from: days[0] ?? allDays })) {
      const changes = changesByAsset.get(row.assetCode) ?? new Map<string, bigint>()
      const change = amountFromParts(row.changeUnits, row.changeRest)
      changes.set(row.day, (changes.get(row.day) ?? 0n) + change)
      changesByAsset.set(row.assetCode, changes)
    }
  }
  return [...changesByAsset].map(([assetCode, changes]) => ({ assetCode, balances: balancesOf(changes, days) }))
}

/** Computes the balance of each day backwards, by subtracting changes from the current balance. */
function balancesOf(changes: ReadonlyMap<string, bigint>, days: readonly string[]): readonly bigint[] {
  const today = days.at(-1) ?? ''
  let balance = changes.get(allDays) ?? 0n
  const balances = [balance]
  // A merchant can advance its sandbox clock, so changes can have a future date.
  for (const [day, change] of changes) if (day > today && day !== allDays) balance -= change
  for (const day of days.slice(1).reverse()) {
    balance -= changes.get(day) ?? 0n
    balances.push(balance)
  }
  return balances.reverse()
}
