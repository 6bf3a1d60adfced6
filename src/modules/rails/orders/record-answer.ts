import type { DueTime } from '../../../core/ids-and-clock.ts'
import { toDueTime } from '../../../core/ids-and-clock.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context } from '../../../operations/context.ts'
import { defineInternalOperation } from '../../../operations/define-operation.ts'
import { settleInTransaction } from '../../payouts/settle-payout.ts'
import type { BankReport, RailOrder } from '../../rail-orders/rail-order.ts'
import { lockRailOrder } from '../../rail-orders/repository.ts'
import { transitionRailOrder, updateRailOrder } from '../../rail-orders/transition-order.ts'
import { applyReport, noteBankResponse } from './apply-report.ts'
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
