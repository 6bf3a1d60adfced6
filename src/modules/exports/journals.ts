import { setImmediate as nextTurn } from 'node:timers/promises'
import type { z } from 'zod'
import { timestamp } from '../../core/ids.ts'
import { parse } from '../../core/input.ts'
import type { Answer } from '../../database/query.ts'
import type { Context } from '../../operations/context.ts'
import { gainOf } from '../ledger/entry.ts'
import { latestOf } from '../outbox/latest-event.ts'
import { balancesAround, sumBetween } from './control-totals.ts'
import type { Export, Line } from './export.ts'
import { numbersPerSum } from './export.ts'
import { PeriodInput } from './payouts-export.ts'
import { periodOf } from './period.ts'
import { depositSums, depositsBetween, feeSums, feesBetween } from './repository.ts'

/** What is read of events that lie between two numbers and two moments. */
type Asked = Parameters<typeof depositsBetween>[1]

/** What happens in a journal: the events that it is about, what the ledger made of them, and a line for each. */
type Journal = {
  readonly kind: 'fees' | 'deposits'
  readonly types: readonly string[]
  readonly sums: (db: Context['db'], asked: Asked) => ReturnType<typeof depositSums>
  readonly lines: (db: Context['db'], asked: Asked) => Answer<readonly Line[]>
}

const deposits: Journal = {
  kind: 'deposits',
  types: ['wallet.transaction.inbound', 'deposit.reversed'],
  sums: depositSums,
  lines: async (db, asked) =>
    (await depositsBetween(db, asked)).map(({ time, id, kind, walletId, assetCode, amount, reference }) => {
      const moved = gainOf(kind, amount)
      const cells = { id, wallet_id: walletId, currency: assetCode, amount: moved, reference, kind }
      return { assetCode, moved, cells: { created_at: timestamp(Number(time)), ...cells } }
    }),
}

const fees: Journal = {
  kind: 'fees',
  types: ['payout.initiated', 'payout.failed', 'payout.returned'],
  sums: feeSums,
  lines: async (db, asked) =>
    (await feesBetween(db, asked)).map(({ time, type, payoutId, transactionId, assetCode, fee }) => {
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

/** Money that came in from outside, and deposits that were reversed; the balance of an asset is what came in from the beginning on. */
export const exportDeposits = journalExport(deposits)

/** Fees as they were charged and given back; the balance of an asset is what was earned from the beginning on. */
export const exportFees = journalExport(fees)

const beginning = 0n

/**
 * A journal is read along the merchant's events up to the latest there is, which are numbered in the order of their commits and never
 * change: what belongs to a period is told by the time of each.
 */
function journalExport({ kind, types, sums, lines }: Journal) {
  return async (context: Context, input: z.input<typeof PeriodInput>): Promise<Export> => {
    const { db, merchantId } = context
    const period = periodOf(context, parse(PeriodInput, input))
    const [timeFrom, timeBefore] = [
      period.from === null ? beginning : BigInt(Date.parse(period.from)),
      BigInt(Date.parse(period.to)),
    ]
    const all = { after: 0, through: await latestOf(context) }
    const sumOf = (numbers: typeof all, times: Pick<Asked, 'timeFrom' | 'timeBefore'>) =>
      sumBetween(numbers, (part) => sums(db, { merchantId, types, ...times, ...part }))
    // Before the beginning there is nothing to look through.
    const earlier = period.from === null ? { ...all, through: 0 } : all
    const before = await sumOf(earlier, { timeFrom: beginning, timeBefore: timeFrom })
    const within = await sumOf(all, { timeFrom, timeBefore })
    return {
      ...{ kind, merchantId, walletId: null, period, lineCount: within.count },
      hasFineAmounts: within.hasFineAmounts,
      ...balancesAround(before, within),
      pages: pagesOf(all.through, (part) => lines(db, { merchantId, types, timeFrom, timeBefore, ...part })),
    }
  }
}

async function* pagesOf(
  through: number,
  read: (part: { after: number; through: number }) => Answer<readonly Line[]>,
): AsyncGenerator<readonly Line[]> {
  for (let after = 0; after < through; after += numbersPerSum) {
    yield await read({ after, through: Math.min(after + numbersPerSum, through) })
    await nextTurn()
  }
}
