import type { DueTime } from '../../../core/ids-and-clock.ts'
import { dueTimeAfter, toDueTime } from '../../../core/ids-and-clock.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context } from '../../../operations/context.ts'
import { defineInternalOperation } from '../../../operations/define-operation.ts'
import { settleInTransaction } from '../../payouts/settle-payout.ts'
import type { BankReport, RailOrder } from '../../rail-orders/rail-order.ts'
import { effectOfReport } from '../../rail-orders/rail-order.ts'
import { lockRailOrder } from '../../rail-orders/repository.ts'
import { noteOnRailOrder, transitionRailOrder, updateRailOrder } from '../../rail-orders/transition-order.ts'
import { canBeSubmitted } from './claim-order.ts'
import { nextPollAt } from './poll-schedule.ts'

/** What came of a call; `failure` says why nothing is known of it. */
export type RailCallResult = BankReport | 'NOT_FOUND' | 'CANCELLED' | 'TOO_LATE' | { readonly failure: string }

/** The answer to a call that was begun. */
type RecordAnswerArgs = {
  readonly orderId: string
  /** By which the question is known. */
  readonly dueAt: DueTime
  readonly answer: RailCallResult
  /** For how long after it was first submitted it may be submitted again. */
  readonly idempotentForMs: number
}

/**
 * Records what came of asking a bank, and when it is asked again. What a bank says of an order counts whoever asked, and when;
 * that nothing came, or that there is no such order, only while nobody else has asked meanwhile.
 */
export const recordAnswer = defineInternalOperation(
  'recordAnswer',
  async (context: Context, answered: RecordAnswerArgs): Promise<RailOrder | null> => {
    const { db, merchantId } = context
    return db.write(
      async (tx) => {
        const transfer = await lockRailOrder(tx, { merchantId, orderId: answered.orderId })
        if (!transfer) return null
        const { answer } = answered
        const isAnswer = transfer.dueAt === answered.dueAt
        if (typeof answer === 'object' && 'state' in answer) {
          return applyReport(tx, context, { railOrder: transfer, report: answer, isResponse: isAnswer })
        }
        if (answer === 'CANCELLED') return applyCancellation(tx, context, transfer)
        if (!isAnswer) return transfer
        if (answer === 'NOT_FOUND') return applyNotFound(tx, context, { transfer, answered })
        if (answer === 'TOO_LATE') return applyTooLate(tx, context, transfer)
        return applyFailure(tx, context, { transfer, failure: answer.failure })
      },
      { merchantId },
    )
  },
)

function applyFailure(
  tx: Tx,
  context: Context,
  { transfer, failure }: { transfer: RailOrder; failure: string },
): Promise<RailOrder> {
  const again = scheduleRepeatedPoll(context, transfer)
  if (transfer.state !== 'SUBMITTING') return updateRailOrder(tx, transfer, again)
  return transitionRailOrder(tx, context, transfer, { state: 'UNKNOWN', cause: failure, ...again })
}

/** It goes on as if nobody had wanted it back, and says so to whoever did. */
function applyTooLate(tx: Tx, context: Context, transfer: RailOrder): Promise<RailOrder> {
  const { state } = transfer
  const goesOn = { cancelAskedAt: null, ...scheduleRepeatedPoll(context, transfer) }
  return transitionRailOrder(tx, context, transfer, { state, cause: 'it is too late to cancel it', ...goesOn })
}

function scheduleRepeatedPoll(context: Context, { asked }: RailOrder) {
  return { asked: asked + 1, dueAt: nextPollAt(context, asked) }
}

/**
 * The bank is sure that it has no such order. It may be on its way still, so it is submitted under the same id or not at all,
 * and only while the bank promises to pay that once.
 */
function applyNotFound(
  tx: Tx,
  context: Context,
  { transfer, answered }: { transfer: RailOrder; answered: RecordAnswerArgs },
): Promise<RailOrder> {
  if (transfer.state === 'UNKNOWN' && transfer.cancelAskedAt === null && canBeSubmitted(context, transfer, answered)) {
    // Before all that came later.
    const dueAt = toDueTime(Date.parse(transfer.createdAt) - context.aheadMs)
    return transitionRailOrder(tx, context, transfer, { state: 'QUEUED', cause: 'the bank has no such order', dueAt })
  }
  const isUnheardOf = transfer.state === 'UNKNOWN'
  const cause = isUnheardOf
    ? 'the bank has no such order, and may not be asked again without a person'
    : `the bank has no such order, of which it said ${transfer.state}`
  return transitionRailOrder(tx, context, transfer, { state: 'ATTENTION', cause, dueAt: null })
}

async function applyCancellation(tx: Tx, context: Context, transfer: RailOrder): Promise<RailOrder> {
  // Several may have asked at once, and a bank that takes an order back may report it as rejected before it answers.
  if (transfer.state === 'CANCELLED' || transfer.state === 'REJECTED') return transfer
  if (transfer.state === 'ATTENTION') {
    return noteBankResponse(tx, context, {
      railOrder: transfer,
      reportedState: 'CANCELLED',
      reference: transfer.reference,
    })
  }
  if (transfer.state !== 'ACCEPTED' && transfer.state !== 'UNKNOWN') {
    const cause = `the bank says CANCELLED of what was ${transfer.state}`
    return transitionRailOrder(tx, context, transfer, { state: 'ATTENTION', cause, dueAt: null })
  }
  await settleInTransaction(tx, context, { payoutId: transfer.payoutId, status: 'FAILED', cause: 'cancelled' })
  return transitionRailOrder(tx, context, transfer, { state: 'CANCELLED', dueAt: null, cancelAskedAt: null })
}

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
