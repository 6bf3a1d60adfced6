import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
import type { z } from 'zod'
import { parseInput } from '../../core/input.ts'
import { allOrFirstError } from '../../core/maybe-promise.ts'
import { findLastBefore } from '../../lists/time-search.ts'
import type { Context } from '../../operations/context.ts'
import { payout } from '../payouts/payout-shape.ts'
import { computeFeeSums } from '../pricing/fees.ts'
import { openingAndClosingBalances, sumSequenceRange } from './control-totals.ts'
import type { Export, ExportCell, ExportLine } from './export.ts'
import { linesPerPage } from './export.ts'
import { PeriodInput, resolvePeriod } from './period.ts'
import { payoutAtOrBefore, payoutSums, payoutsBetween } from './repository.ts'

/**
 * Exports payouts in order of creation, with their current status.
 *
 * The balance of an asset is the sum of all debits by payouts since the first payout, including fees. The balance does
 * not include the refunds of failed and returned payouts.
 *
 * @throws DomainError INVALID_INPUT
 */
export async function exportPayouts(context: Context, input: z.input<typeof PeriodInput>): Promise<Export> {
  const { db, merchantId } = context
  const period = resolvePeriod(context, parseInput(PeriodInput, input))
  const moments = period.from === null ? [period.to] : [period.to, period.from]
  const [last, lastBefore] = await findLastBefore(moments, (sequences) =>
    allOrFirstError(sequences.map((sequence) => payoutAtOrBefore(db, { merchantId, sequence }))),
  )
  const [through, after] = [last?.sequence ?? 0, lastBefore?.sequence ?? 0]
  const sum = async (part: { after: number; through: number }) => payoutSums(db, { merchantId, ...part })
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
    await nextEventLoopTurn()
  }
}

function toLine(row: Awaited<ReturnType<typeof payoutsBetween>>[number]): ExportLine {
  const { total } = computeFeeSums(row)
  const cells = JSON.parse(payout.write(row)) as Record<string, ExportCell>
  return { assetCode: row.assetCode, moved: total, cells: { ...cells, total } }
}
