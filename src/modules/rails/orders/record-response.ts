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

export type RailCallResult = BankReport | 'NOT_FOUND' | 'CANCELLED' | 'TOO_LATE' | { readonly failure: string }

type RecordResponseArgs = {
  readonly orderId: string
  readonly dueAt: DueTime
  readonly response: RailCallResult
  readonly idempotentForMs: number
}

/**
 * If another process has claimed the order after the call began, applies the response only if the response is an order
 * state or `CANCELLED`.
 */
export const recordResponse = defineInternalOperation(
  'recordResponse',
  async (context: Context, args: RecordResponseArgs): Promise<RailOrder | null> => {
    const { db, merchantId } = context
    return db.write(
      async (tx) => {
        const railOrder = await lockRailOrder(tx, { merchantId, orderId: args.orderId })
        if (!railOrder) return null
        const { response } = args
        const isResponse = railOrder.dueAt === args.dueAt
        if (typeof response === 'object' && 'state' in response) {
          return applyReport(tx, context, { railOrder, report: response, isResponse })
        }
        if (response === 'CANCELLED') return applyCancellation(tx, context, railOrder)
        if (!isResponse) return railOrder
        if (response === 'NOT_FOUND')
          return applyNotFound(tx, context, { railOrder, idempotentForMs: args.idempotentForMs })
        if (response === 'TOO_LATE') return applyTooLate(tx, context, railOrder)
        return applyFailure(tx, context, { railOrder, failure: response.failure })
      },
      { merchantId },
    )
  },
)

function applyFailure(
  tx: Tx,
  context: Context,
  { railOrder, failure }: { railOrder: RailOrder; failure: string },
): Promise<RailOrder> {
  const nextPoll = scheduleRepeatedPoll(context, railOrder)
  if (railOrder.state !== 'SUBMITTING') return updateRailOrder(tx, railOrder, nextPoll)
  return transitionRailOrder(tx, context, railOrder, { state: 'UNKNOWN', cause: failure, ...nextPoll })
}

function applyTooLate(tx: Tx, context: Context, railOrder: RailOrder): Promise<RailOrder> {
  const { state } = railOrder
  const changes = { cancelAskedAt: null, ...scheduleRepeatedPoll(context, railOrder) }
  return transitionRailOrder(tx, context, railOrder, { state, cause: 'it is too late to cancel the order', ...changes })
}

function scheduleRepeatedPoll(context: Context, { asked }: RailOrder) {
  return { asked: asked + 1, dueAt: nextPollAt(context, asked) }
}

/**
 * An earlier submission may still be in transit, so only a submission with the same order id is safe. If the bank no
 * longer guarantees idempotent submissions, the order enters the attention queue.
 */
function applyNotFound(
  tx: Tx,
  context: Context,
  { railOrder, idempotentForMs }: { railOrder: RailOrder; idempotentForMs: number },
): Promise<RailOrder> {
  if (
    railOrder.state === 'UNKNOWN' &&
    railOrder.cancelAskedAt === null &&
    canBeSubmitted(context, railOrder, { idempotentForMs })
  ) {
    // The due time is the order's creation time, so that the order keeps its place in the queue.
    const dueAt = toDueTime(Date.parse(railOrder.createdAt) - context.aheadMs)
    return transitionRailOrder(tx, context, railOrder, {
      state: 'QUEUED',
      cause: 'the bank has no record of the order',
      dueAt,
    })
  }
  const isUnknown = railOrder.state === 'UNKNOWN'
  const cause = isUnknown
    ? 'the bank has no record of the order, but an earlier submission may still arrive'
    : `the bank has no record of the order, which it reported as ${railOrder.state} before`
  return transitionRailOrder(tx, context, railOrder, { state: 'ATTENTION', cause, dueAt: null })
}

async function applyCancellation(tx: Tx, context: Context, railOrder: RailOrder): Promise<RailOrder> {
  // Another call may have cancelled the order, or the bank may have reported a rejection in the meantime.
  if (railOrder.state === 'CANCELLED' || railOrder.state === 'REJECTED') return railOrder
  if (railOrder.state === 'ATTENTION') {
    return noteBankResponse(tx, context, {
      railOrder,
      reportedState: 'CANCELLED',
      reference: railOrder.reference,
    })
  }
  if (railOrder.state !== 'ACCEPTED' && railOrder.state !== 'UNKNOWN') {
    const cause = `the bank reports CANCELLED for an order that was ${railOrder.state}`
    return transitionRailOrder(tx, context, railOrder, { state: 'ATTENTION', cause, dueAt: null })
  }
  await settleInTransaction(tx, context, { payoutId: railOrder.payoutId, status: 'FAILED', cause: 'cancelled' })
  return transitionRailOrder(tx, context, railOrder, { state: 'CANCELLED', dueAt: null, cancelAskedAt: null })
}

type ApplyReportArgs = {
  readonly railOrder: RailOrder
  readonly report: BankReport
  /** True for the response to a poll, false for a report that the bank posted. */
  readonly isResponse: boolean
}

export async function applyReport(tx: Tx, context: Context, args: ApplyReportArgs): Promise<RailOrder> {
  const { railOrder, report, isResponse } = args
  const reference = railOrder.reference ?? report.reference ?? null
  if (railOrder.state === 'ATTENTION')
    return noteBankResponse(tx, context, { railOrder, reportedState: report.state, ...report, reference })
  const effect = effectOfReport(railOrder.state, report.state)
  if (effect === null) {
    return updateRailOrder(tx, railOrder, {
      reference,
      ...(isResponse && scheduleNextPoll(context, railOrder, report)),
    })
  }

  const { state, settlements } = effect
  const cause = effect.cause ?? report.code ?? null
  const { payoutId } = railOrder
  for (const [i, status] of settlements.entries()) {
    // A returned payout has two settlements, `COMPLETED` and `RETURNED`. The bank's reason code belongs only to the
    // last settlement.
    const settlementCause = i === settlements.length - 1 ? (report.code ?? null) : null
    await settleInTransaction(tx, context, { payoutId, status, cause: settlementCause, reference })
  }
  const cancelAskedAt = state === 'ACCEPTED' ? railOrder.cancelAskedAt : null
  const nextPoll =
    cancelAskedAt === null
      ? scheduleNextPoll(context, { state, asked: 0 }, report)
      : scheduleNextCancelPoll(context, args)
  return transitionRailOrder(tx, context, railOrder, { state, cause, reference, cancelAskedAt, ...nextPoll })
}

type BankNoteArgs = {
  readonly railOrder: RailOrder
  readonly reportedState: string
  readonly code?: string | null
  readonly reference: string | null
}

/** Repeated bank reports add only one entry to the rail order's history. */
async function noteBankResponse(
  tx: Tx,
  context: Context,
  { railOrder, reportedState, code, reference }: BankNoteArgs,
): Promise<RailOrder> {
  const note = `the bank reports ${reportedState}`
  if (railOrder.history.at(-1)?.cause?.startsWith(note)) return updateRailOrder(tx, railOrder, { reference })
  return noteOnRailOrder(tx, context, railOrder, { reference, cause: code == null ? note : `${note}: ${code}` })
}

type PollSchedule = Pick<RailOrder, 'asked' | 'dueAt'>

function scheduleNextPoll(
  context: Context,
  railOrder: Pick<RailOrder, 'state' | 'asked'>,
  { nextAfterMs }: BankReport,
): PollSchedule {
  if (railOrder.state === 'ATTENTION') return { asked: 0, dueAt: null }
  if (nextAfterMs !== undefined) return { asked: 0, dueAt: dueTimeAfter(nextAfterMs, context.wallClock()) }
  if (railOrder.state !== 'ACCEPTED') return { asked: 0, dueAt: null }
  return { asked: railOrder.asked + 1, dueAt: nextPollAt(context, railOrder.asked) }
}

/**
 * After a response of the bank, the next poll follows the poll schedule. After a report that the bank posted, the next
 * poll is due immediately.
 */
function scheduleNextCancelPoll(context: Context, { railOrder, isResponse }: ApplyReportArgs): PollSchedule {
  if (isResponse) return { asked: railOrder.asked + 1, dueAt: nextPollAt(context, railOrder.asked) }
  return { asked: railOrder.asked, dueAt: dueTimeAfter(0, context.wallClock()) }
}
