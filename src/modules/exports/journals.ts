import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
import type { z } from 'zod'
import { timestamp } from '../../core/ids-and-clock.ts'
import { parseInput } from '../../core/input.ts'
import type { Context } from '../../operations/context.ts'
import { balanceChangeOf } from '../ledger/entry.ts'
import { latestEventSequence } from '../outbox/read-events.ts'
import { openingAndClosingBalances, sumSequenceRange } from './control-totals.ts'
import type { Export, ExportLine } from './export.ts'
import { sumBatchSize } from './export.ts'
import { PeriodInput, resolvePeriod } from './period.ts'
import { depositSums, depositsBetween, feeSums, feesBetween } from './repository.ts'

type JournalQueryParams = Parameters<typeof depositsBetween>[1]

type Journal = {
  readonly kind: 'fees' | 'deposits'
  readonly types: readonly string[]
  readonly sums: (db: Context['db'], params: JournalQueryParams) => ReturnType<typeof depositSums>
  readonly lines: (db: Context['db'], params: JournalQueryParams) => Promise<readonly ExportLine[]>
}

const depositJournal: Journal = {
  kind: 'deposits',
  types: ['wallet.transaction.inbound', 'deposit.reversed'],
  sums: depositSums,
  lines: async (db, params) =>
    (await depositsBetween(db, params)).map(({ time, id, kind, walletId, assetCode, amount, reference }) => {
      const moved = balanceChangeOf(kind, amount)
      const cells = { id, wallet_id: walletId, currency: assetCode, amount: moved, reference, kind }
      return { assetCode, moved, cells: { created_at: timestamp(Number(time)), ...cells } }
    }),
}

const feeJournal: Journal = {
  kind: 'fees',
  types: ['payout.initiated', 'payout.failed', 'payout.returned'],
  sums: feeSums,
  lines: async (db, params) =>
    (await feesBetween(db, params)).map(({ time, type, payoutId, transactionId, assetCode, fee }) => {
      const isCharged = type === 'payout.initiated'
      const moved = isCharged ? (fee ?? 0n) : -(fee ?? 0n)
      return {
        assetCode,
        moved,
        cells: {
          ...{ created_at: timestamp(Number(time)), kind: isCharged ? 'charged' : 'given_back' },
          ...{ currency: assetCode, amount: moved, payout_id: payoutId, transaction_id: transactionId },
        },
      }
    }),
}

/** In the deposits export, the balance is the sum of all deposits since the first deposit, minus reversals. */
export const exportDeposits = createJournalExport(depositJournal)

/** In the fees export, the balance is the sum of all fees since the first fee, minus refunds. */
export const exportFees = createJournalExport(feeJournal)

const earliestTime = 0n

/**
 * Exports the events of a period, up to the latest event. Events never change, and their sequence is the order of
 * commits.
 */
function createJournalExport({ kind, types, sums, lines }: Journal) {
  return async (context: Context, input: z.input<typeof PeriodInput>): Promise<Export> => {
    const { db, merchantId } = context
    const period = resolvePeriod(context, parseInput(PeriodInput, input))
    const [timeFrom, timeBefore] = [
      period.from === null ? earliestTime : BigInt(Date.parse(period.from)),
      BigInt(Date.parse(period.to)),
    ]
    const all = { after: 0, through: await latestEventSequence(context) }
    const sumOf = (range: typeof all, times: Pick<JournalQueryParams, 'timeFrom' | 'timeBefore'>) =>
      sumSequenceRange(range, async (part) => sums(db, { merchantId, types, ...times, ...part }))
    const earlier = period.from === null ? { ...all, through: 0 } : all
    const before = await sumOf(earlier, { timeFrom: earliestTime, timeBefore: timeFrom })
    const within = await sumOf(all, { timeFrom, timeBefore })
    return {
      ...{ kind, merchantId, walletId: null, period, lineCount: within.count },
      hasMoreThanFiveDecimals: within.hasMoreThanFiveDecimals,
      ...openingAndClosingBalances(before, within),
      pages: readPages(all.through, (part) => lines(db, { merchantId, types, timeFrom, timeBefore, ...part })),
    }
  }
}

async function* readPages(
  through: number,
  read: (part: { after: number; through: number }) => Promise<readonly ExportLine[]>,
): AsyncGenerator<readonly ExportLine[]> {
  for (let after = 0; after < through; after += sumBatchSize) {
    yield await read({ after, through: Math.min(after + sumBatchSize, through) })
    await nextEventLoopTurn()
  }
}
