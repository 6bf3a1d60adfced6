import { amountFromParts } from '../../core/money/amount.ts'
import type { Reader } from '../../database/query.ts'
import { allMerchants } from '../merchants/repository.ts'
import type { BalanceChange } from '../payout-statistics/balance-changes.ts'
import { allDays, summarizeTransfers } from '../payout-statistics/balance-changes.ts'
import { balanceChangesOfMerchant, coverageOfMerchants, transfersBetween } from '../payout-statistics/repository.ts'
import { ledgerChangesByDay } from './repository.ts'

const eventsPerBatch = 20_000

/** The stored daily changes of balances may lack the latest transfers, so this function adds the missing transfers. */
export async function findWrongBalanceChanges(db: Reader): Promise<readonly { readonly id: string }[]> {
  const wrong: { id: string }[] = []
  for (const { id: merchantId } of await allMerchants(db, {})) {
    const differences = new Map<string, bigint>()
    const add = ({ day, assetCode, changeUnits, changeRest }: BalanceChange, sign: bigint) => {
      const key = `${day} ${assetCode}`
      differences.set(key, (differences.get(key) ?? 0n) + sign * amountFromParts(changeUnits, changeRest))
    }
    for (const change of await ledgerChangesByDay(db, { merchantId })) {
      add(change, 1n)
      add({ ...change, day: allDays }, 1n)
    }
    for (const change of await balanceChangesOfMerchant(db, { merchantId })) add(change, -1n)
    const [coverage] = await coverageOfMerchants(db, { merchantIds: [merchantId] })
    const latest = coverage?.latest ?? 0
    for (let after = coverage?.through ?? 0; after < latest; after += eventsPerBatch) {
      const range = { merchantId, after, through: Math.min(after + eventsPerBatch, latest) }
      for (const change of summarizeTransfers(await transfersBetween(db, range))) add(change, -1n)
    }
    for (const [key, difference] of differences) if (difference !== 0n) wrong.push({ id: `${merchantId} ${key}` })
  }
  return wrong
}
