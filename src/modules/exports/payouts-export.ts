import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { parseInput } from '../../core/input.ts'
import type { Context } from '../../operations/context.ts'
import { payout } from '../payouts/payout-shape.ts'
import { computeFeeSums } from '../pricing/fees.ts'
import { openingAndClosingBalances, sumSequenceRange } from './control-totals.ts'
import type { Export, ExportCell, ExportLine } from './export.ts'
import { linesPerPage } from './export.ts'
import { findLastBefore, periodFields, resolvePeriod } from './period.ts'
import { payoutAtOrBefore, payoutSums, payoutsBetween } from './repository.ts'

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
  const period = resolvePeriod(context, parseInput(PeriodInput, input))
  const sequenceBefore = async (moment: string) =>
    (await findLastBefore(moment, (sequence) => payoutAtOrBefore(db, { merchantId, sequence })))?.sequence ?? 0
  const through = await sequenceBefore(period.to)
  const after = period.from === null ? 0 : await sequenceBefore(period.from)
  const sum = (part: { after: number; through: number }) => payoutSums(db, { merchantId, ...part })
  const before = await sumSequenceRange({ after: 0, through: after }, sum)
  const within = await sumSequenceRange({ after, through }, sum)
  return {
    ...{ kind: 'payouts', merchantId, walletId: null, period },
    ...openingAndClosingBalances(before, within),
    lineCount: within.count,
    hasMoreThanFiveDecimals: within.hasMoreThanFiveDecimals,
    pages: readLines(context, { after, through }),
  }
}

async function* readLines(
  { db, merchantId }: Context,
  { after, through }: { after: number; through: number },
): AsyncGenerator<readonly ExportLine[]> {
  for (let last = after; last < through; ) {
    const payouts = await payoutsBetween(db, { merchantId, after: last, through, limit: linesPerPage })
    yield payouts.map(toLine)
    last = payouts.at(-1)?.sequence ?? through
    await nextTurn()
  }
}

function toLine(row: Awaited<ReturnType<typeof payoutsBetween>>[number]): ExportLine {
  const { total } = computeFeeSums(row)
  const told = JSON.parse(payout.write(row)) as Record<string, ExportCell>
  return { assetCode: row.assetCode, moved: total, cells: { ...told, total } }
}
