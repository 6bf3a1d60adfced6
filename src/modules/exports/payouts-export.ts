import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { parse } from '../../core/input.ts'
import type { Context } from '../../operations/context.ts'
import { payout } from '../payouts/payout-shape.ts'
import { sumsWithFee } from '../pricing/fees/fee.ts'
import { balancesAround, sumBetween } from './control-totals.ts'
import type { Cell, Export, Line } from './export.ts'
import { linesPerPage } from './export.ts'
import { lastBefore, periodFields, periodOf } from './period.ts'
import { payoutAt, payoutSums, payoutsBetween } from './repository.ts'

export const PeriodInput = z.object(periodFields)

/**
 * The payouts that were made in a period, each as it is now, in the order in which they were made.
 *
 * The balance of an asset is what payouts have taken out of wallets from the beginning on, amounts and fees: what came back
 * later is in it, because it has a payout of its own no more than its status says.
 *
 * @param input `from` absent for the beginning, `to` for now; a day is its first moment in UTC
 * @throws Refusal INVALID_INPUT
 */
export async function exportPayouts(context: Context, input: z.input<typeof PeriodInput>): Promise<Export> {
  const { db, merchantId } = context
  const period = periodOf(context, parse(PeriodInput, input))
  const numberBefore = async (moment: string) =>
    (await lastBefore(moment, (sequence) => payoutAt(db, { merchantId, sequence })))?.sequence ?? 0
  const through = await numberBefore(period.to)
  const after = period.from === null ? 0 : await numberBefore(period.from)
  const sum = (part: { after: number; through: number }) => payoutSums(db, { merchantId, ...part })
  const before = await sumBetween({ after: 0, through: after }, sum)
  const within = await sumBetween({ after, through }, sum)
  return {
    ...{ kind: 'payouts', merchantId, walletId: null, period },
    ...balancesAround(before, within),
    lineCount: within.count,
    hasFineAmounts: within.hasFineAmounts,
    pages: linesOf(context, { after, through }),
  }
}

async function* linesOf(
  { db, merchantId }: Context,
  { after, through }: { after: number; through: number },
): AsyncGenerator<readonly Line[]> {
  for (let last = after; last < through; ) {
    const payouts = await payoutsBetween(db, { merchantId, after: last, through, limit: linesPerPage })
    yield payouts.map(lineOf)
    last = payouts.at(-1)?.sequence ?? through
    await nextTurn()
  }
}

function lineOf(row: Awaited<ReturnType<typeof payoutsBetween>>[number]): Line {
  const { total } = sumsWithFee(row)
  const told = JSON.parse(payout.write(row)) as Record<string, Cell>
  return { assetCode: row.assetCode, moved: total, cells: { ...told, total } }
}
