import { dueTimeAfter } from '../../../core/ids-and-clock.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context } from '../../../operations/context.ts'
import { settleInTransaction } from '../../payouts/settle-payout.ts'
import type { BankReport, RailOrder } from '../../rail-orders/rail-order.ts'
import { effectOfReport } from '../../rail-orders/rail-order.ts'
import { noteOnRailOrder, transitionRailOrder, updateRailOrder } from '../../rail-orders/transition-order.ts'
import { nextPollAt } from './poll-schedule.ts'

type ApplyReportArgs = {
  readonly railOrder: RailOrder
  readonly report: BankReport
  /** Whether it answers the question for which the transfer is held: only then is that over, and the next one due later. */
  readonly isResponse: boolean
}

/** Does what follows from a bank's report, however it came: as an answer, or by itself. */
export async function applyReport(tx: Tx, context: Context, applied: ApplyReportArgs): Promise<RailOrder> {
  const { railOrder: transfer, report, isResponse: isAnswer } = applied
  const reference = transfer.reference ?? report.reference ?? null
  if (transfer.state === 'ATTENTION')
    return noteBankResponse(tx, context, { railOrder: transfer, reportedState: report.state, ...report, reference })
  const consequence = effectOfReport(transfer.state, report.state)
  if (consequence === null) {
    return updateRailOrder(tx, transfer, { reference, ...(isAnswer && scheduleNextPoll(context, transfer, report)) })
  }

  const { state, settlements: settles } = consequence
  const cause = consequence.cause ?? report.code ?? null
  const { payoutId } = transfer
  for (const [place, status] of settles.entries()) {
    // The bank's words are of the last: what came back was paid before without any.
    const words = place === settles.length - 1 ? (report.code ?? null) : null
    await settleInTransaction(tx, context, { payoutId, status, cause: words, reference })
  }
  const cancelAskedAt = state === 'ACCEPTED' ? transfer.cancelAskedAt : null
  const next =
    cancelAskedAt === null
      ? scheduleNextPoll(context, { state, asked: 0 }, report)
      : scheduleNextCancelPoll(context, applied)
  return transitionRailOrder(tx, context, transfer, { state, cause, reference, cancelAskedAt, ...next })
}

type BankNoteArgs = {
  readonly railOrder: RailOrder
  readonly reportedState: string
  readonly code?: string | null
  readonly reference: string | null
}

/** Keeps what the bank says of what a person must look at, for whoever decides, unless it has said just that before. */
export async function noteBankResponse(
  tx: Tx,
  context: Context,
  { railOrder: transfer, reportedState: said, code, reference }: BankNoteArgs,
): Promise<RailOrder> {
  const saying = `the bank says ${said}`
  if (transfer.history.at(-1)?.cause?.startsWith(saying)) return updateRailOrder(tx, transfer, { reference })
  return noteOnRailOrder(tx, context, transfer, { reference, cause: code == null ? saying : `${saying}: ${code}` })
}

type PollSchedule = Pick<RailOrder, 'asked' | 'dueAt'>

/** When the bank is asked next: when it says itself that there is more, or on schedule where it has more to say. */
function scheduleNextPoll(
  context: Context,
  transfer: Pick<RailOrder, 'state' | 'asked'>,
  { nextAfterMs }: BankReport,
): PollSchedule {
  if (transfer.state === 'ATTENTION') return { asked: 0, dueAt: null }
  if (nextAfterMs !== undefined) return { asked: 0, dueAt: dueTimeAfter(nextAfterMs, context.wallClock()) }
  if (transfer.state !== 'ACCEPTED') return { asked: 0, dueAt: null }
  return { asked: transfer.asked + 1, dueAt: nextPollAt(context, transfer.asked) }
}

/** The turns in which it is asked to take the order back go on, and what it says by itself meanwhile delays none. */
function scheduleNextCancelPoll(
  context: Context,
  { railOrder: transfer, isResponse: isAnswer }: ApplyReportArgs,
): PollSchedule {
  if (isAnswer) return { asked: transfer.asked + 1, dueAt: nextPollAt(context, transfer.asked) }
  return { asked: transfer.asked, dueAt: dueTimeAfter(0, context.wallClock()) }
}
