import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
import type { Amount } from '../../core/money/amount.ts'
import { amountFromParts } from '../../core/money/amount.ts'
import type { ExportBalance } from './export.ts'
import { sumBatchSize } from './export.ts'

type SumRow = {
  readonly assetCode: string
  readonly rowCount: number | bigint
  readonly units: bigint
  readonly rest: bigint
  readonly fineCount: number | bigint
}

export type ControlTotals = {
  readonly count: number
  readonly totals: ReadonlyMap<string, Amount>
  readonly hasMoreThanFiveDecimals: boolean
}

/** The batches can be read in different snapshots, because the summed amounts never change. */
export async function sumSequenceRange(
  { after, through }: { readonly after: number; readonly through: number },
  sumBatch: (range: { after: number; through: number }) => Promise<readonly SumRow[]>,
): Promise<ControlTotals> {
  const totals = new Map<string, Amount>()
  let count = 0
  let hasMoreThanFiveDecimals = false
  for (let from = after; from < through; from += sumBatchSize) {
    for (const { assetCode, rowCount, units, rest, fineCount } of await sumBatch({
      after: from,
      through: Math.min(from + sumBatchSize, through),
    })) {
      count += Number(rowCount)
      hasMoreThanFiveDecimals ||= Number(fineCount) > 0
      totals.set(assetCode, (totals.get(assetCode) ?? 0n) + amountFromParts(units, rest))
    }
    await nextEventLoopTurn()
  }
  return { count, totals, hasMoreThanFiveDecimals }
}

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
