import type { Tx } from '../../database/query.ts'
import type { Context } from '../../operations/context.ts'
import { defineInternalOperation } from '../../operations/define-operation.ts'
import type { BalanceChange } from './balance-changes.ts'
import type { StatisticsChange } from './payout-statistics.ts'
import { addToBalances, addToStatistics, advanceCursor, insertCursor } from './repository.ts'

export type CountedEvents = {
  readonly after: number
  readonly through: number
  readonly changes: readonly StatisticsChange[]
  readonly balanceChanges: readonly BalanceChange[]
}

/**
 * The transaction that adds the changes also moves the statistics cursor from `after` to `through`, so no event is
 * counted twice.
 *
 * @returns false if the statistics cursor is not at `after`
 */
export async function addStatistics(
  tx: Tx,
  merchantId: string,
  { after, through, changes, balanceChanges }: CountedEvents,
): Promise<boolean> {
  const isFirst = after === 0 && (await insertCursor(tx, { merchantId, through })) !== null
  if (!isFirst && (await advanceCursor(tx, { merchantId, after, through })) === null) return false
  await addToStatistics(tx, { merchantId, changes })
  await addToBalances(tx, { merchantId, changes: balanceChanges })
  return true
}

export const storeStatistics = defineInternalOperation(
  'storeStatistics',
  async ({ db, merchantId }: Context, counted: CountedEvents): Promise<boolean> =>
    db.write((tx) => addStatistics(tx, merchantId, counted), { merchantId }),
)
