import type { Amount } from '../../core/money/amount.ts'
import { oneUnit } from '../../core/money/amount.ts'
import type { Service } from '../../operations/context.ts'
import { heldBalances } from './repository.ts'

/** Limits the cost of summing balances, because the database stores no total. */
const maxWallets = 1_000

/** Returns `null` if the installation has 1,000 wallets or more. */
export async function sumHeldBalances({ db }: Service): Promise<ReadonlyMap<string, Amount> | null> {
  const rows = await heldBalances(db, { limit: maxWallets })
  if (rows.reduce((count, { rowCount }) => count + Number(rowCount), 0) === maxWallets) return null
  return new Map(rows.map(({ assetCode, units, rest }) => [assetCode, BigInt(units) * oneUnit + BigInt(rest)]))
}
