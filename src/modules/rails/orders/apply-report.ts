import { dueAfter } from '../../../core/ids.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context } from '../../../operations/context.ts'
import { settleWithin } from '../../payouts/settle-payout.ts'
import type { Transfer, TransferReport } from '../../rail-orders/rail-order.ts'
import { consequenceOf } from '../../rail-orders/rail-order.ts'
import { changeTransfer, moveTransfer, noteOfTransfer } from '../../rail-orders/transition-order.ts'
import { nextQuestionAt } from './poll-schedule.ts'

type Applied = {
  readonly transfer: Transfer
  readonly report: TransferReport
  /** Whether it answers the question for which the transfer is held: only then is that over, and the next one due later. */
  readonly isAnswer: boolean
}

/** Does what follows from a bank's report, however it came: as an answer, or by itself. */
export async function applyReport(tx: Tx, context: Context, applied: Applied): Promise<Transfer> {
  const { transfer, report, isAnswer } = applied
  const reference = transfer.reference ?? report.reference ?? null
  if (transfer.state === 'ATTENTION')
    return noteSaying(tx, context, { transfer, said: report.state, ...report, reference })
  const consequence = consequenceOf(transfer.state, report.state)
  if (consequence === null) {
    return changeTransfer(tx, transfer, { reference, ...(isAnswer && asked(context, transfer, report)) })
  }

  const { state, settles } = consequence
  const cause = consequence.cause ?? report.code ?? null
  const { payoutId } = transfer
  for (const [place, status] of settles.entries()) {
    // The bank's words are of the last: what came back was paid before without any.
    const words = place === settles.length - 1 ? (report.code ?? null) : null
    await settleWithin(tx, context, { payoutId, status, cause: words, reference })
  }
  const cancelAskedAt = state === 'ACCEPTED' ? transfer.cancelAskedAt : null
  const next = cancelAskedAt === null ? asked(context, { state, asked: 0 }, report) : askedToCancel(context, applied)
  return moveTransfer(tx, context, transfer, { state, cause, reference, cancelAskedAt, ...next })
}

type Saying = {
  readonly transfer: Transfer
  readonly said: string
  readonly code?: string | null
  readonly reference: string | null
}

/** Keeps what the bank says of what a person must look at, for whoever decides, unless it has said just that before. */
export async function noteSaying(
  tx: Tx,
  context: Context,
  { transfer, said, code, reference }: Saying,
): Promise<Transfer> {
  const saying = `the bank says ${said}`
  if (transfer.history.at(-1)?.cause?.startsWith(saying)) return changeTransfer(tx, transfer, { reference })
  return noteOfTransfer(tx, context, transfer, { reference, cause: code == null ? saying : `${saying}: ${code}` })
}

type Schedule = Pick<Transfer, 'asked' | 'dueAt'>

/** When the bank is asked next: when it says itself that there is more, or on schedule where it has more to say. */
function asked(
  context: Context,
  transfer: Pick<Transfer, 'state' | 'asked'>,
  { nextAfterMs }: TransferReport,
): Schedule {
  if (transfer.state === 'ATTENTION') return { asked: 0, dueAt: null }
  if (nextAfterMs !== undefined) return { asked: 0, dueAt: dueAfter(nextAfterMs, context.wallClock()) }
  if (transfer.state !== 'ACCEPTED') return { asked: 0, dueAt: null }
  return { asked: transfer.asked + 1, dueAt: nextQuestionAt(context, transfer.asked) }
}

/** The turns in which it is asked to take the order back go on, and what it says by itself meanwhile delays none. */
function askedToCancel(context: Context, { transfer, isAnswer }: Applied): Schedule {
  if (isAnswer) return { asked: transfer.asked + 1, dueAt: nextQuestionAt(context, transfer.asked) }
  return { asked: transfer.asked, dueAt: dueAfter(0, context.wallClock()) }
}
