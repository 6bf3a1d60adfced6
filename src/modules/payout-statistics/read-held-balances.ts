import { oneUnit } from '../../core/money/amount.ts'
import type { Service } from '../../operations/context.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import { allDays } from './balance-changes.ts'
import { balanceChangesSince } from './repository.ts'

/** Amounts are in units of 10⁻⁸. `balances` has the balance at the end of each day, and at present for the last day. */
export type HeldBalances = { readonly assetCode: string; readonly balances: readonly bigint[] }

/**
 * Returns the sum of the balances of all wallets of all merchants for each asset. The cost depends on the number of
 * merchants and assets, but not on the number of wallets and transfers.
 *
 * @param days consecutive days in UTC, such as `2026-03-01`
 */
export async function readHeldBalances({ db }: Service, days: readonly string[]): Promise<readonly HeldBalances[]> {
  const changesByAsset = new Map<string, Map<string, bigint>>()
  for await (const merchantIds of iterateMerchantIds(db)) {
    for (const row of await balanceChangesSince(db, { merchantIds, from: days[0] ?? allDays })) {
      const changes = changesByAsset.get(row.assetCode) ?? new Map<string, bigint>()
      const change = BigInt(row.changeUnits) * oneUnit + BigInt(row.changeRest)
      changes.set(row.day, (changes.get(row.day) ?? 0n) + change)
      changesByAsset.set(row.assetCode, changes)
    }
  }
  return [...changesByAsset].map(([assetCode, changes]) => ({ assetCode, balances: balancesOf(changes, days) }))
}

/** Subtracts the later changes from the present balance. */
function balancesOf(changes: ReadonlyMap<string, bigint>, days: readonly string[]): readonly bigint[] {
  const today = days.at(-1) ?? ''
  let balance = changes.get(allDays) ?? 0n
  const balances = [balance]
  // The clock of a sandbox may have been advanced, so changes may be of later days.
  for (const [day, change] of changes) if (day > today && day !== allDays) balance -= change
  for (const day of days.slice(1).reverse()) {
    balance -= changes.get(day) ?? 0n
    balances.push(balance)
  }
  return balances.reverse()
}
