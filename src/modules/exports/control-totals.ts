import { setImmediate as nextTurn } from 'node:timers/promises'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { Amount } from '../../core/money/amount.ts'
import { oneUnit } from '../../core/money/amount.ts'
import type { ExportBalance } from './export.ts'
import { sumBatchSize } from './export.ts'

/** What some lines come to in one asset, whole units and the rest apart, as queries add them up. */
type SumRow = {
  readonly assetCode: string
  readonly rowCount: number | bigint
  readonly units: bigint
  readonly rest: bigint
  readonly fineCount: number | bigint
}

/** How many lines there are, what they come to in each asset, and whether one of them has more than five decimal places. */
export type ControlTotals = {
  readonly count: number
  readonly totals: ReadonlyMap<string, Amount>
  readonly hasMoreThanFiveDecimals: boolean
}

/**
 * Adds up what lies between two numbers of a sequence, some at a time, with turns for others in between: what is numbered is never
 * changed, so it need not be of one moment.
 */
export async function sumSequenceRange(
  { after, through }: { readonly after: number; readonly through: number },
  sum: (numbers: { after: number; through: number }) => MaybePromise<readonly SumRow[]>,
): Promise<ControlTotals> {
  const totals = new Map<string, Amount>()
  let count = 0
  let hasFineAmounts = false
  for (let from = after; from < through; from += sumBatchSize) {
    for (const { assetCode, rowCount, units, rest, fineCount } of await sum({
      after: from,
      through: Math.min(from + sumBatchSize, through),
    })) {
      count += Number(rowCount)
      hasFineAmounts ||= Number(fineCount) > 0
      totals.set(assetCode, (totals.get(assetCode) ?? 0n) + BigInt(units) * oneUnit + BigInt(rest))
    }
    await nextTurn()
  }
  return { count, totals, hasMoreThanFiveDecimals: hasFineAmounts }
}

/** What the accounts of all assets held before a period, and after it. */
export function openingAndClosingBalances(
  before: ControlTotals,
  within: ControlTotals,
): { readonly opening: readonly ExportBalance[]; readonly closing: readonly ExportBalance[] } {
  const after = new Map(before.totals)
  for (const [assetCode, amount] of within.totals) after.set(assetCode, (after.get(assetCode) ?? 0n) + amount)
  const balances = (totals: ReadonlyMap<string, Amount>) =>
    [...after.keys()].sort().map((assetCode) => ({ assetCode, balance: totals.get(assetCode) ?? 0n }))
  return { opening: balances(before.totals), closing: balances(after) }
}
