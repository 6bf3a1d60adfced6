import type { DueTime } from '../../../core/ids.ts'
import { queuedSince } from '../../../core/ids.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context } from '../../../operations/context.ts'
import { settleWithin } from '../../payouts/settle-payout.ts'
import type { Transfer, TransferReport } from '../../rail-orders/rail-order.ts'
import { lockTransfer } from '../../rail-orders/repository.ts'
import { changeTransfer, moveTransfer } from '../../rail-orders/transition-order.ts'
import { applyReport, noteSaying } from './apply-report.ts'
import { mayBeSubmitted } from './claim-order.ts'
import { nextQuestionAt } from './poll-schedule.ts'

/** What came of a call; `failure` says why nothing is known of it. */
export type Answer = TransferReport | 'NOT_FOUND' | 'CANCELLED' | 'TOO_LATE' | { readonly failure: string }

/** The answer to a call that was begun. */
type Answered = {
  readonly orderId: string
  /** By which the question is known. */
  readonly dueAt: DueTime
  readonly answer: Answer
  /** For how long after it was first submitted it may be submitted again. */
  readonly idempotentForMs: number
}

/**
 * Records what came of asking a bank, and when it is asked again. What a bank says of an order counts whoever asked, and when;
 * that nothing came, or that there is no such order, only while nobody else has asked meanwhile.
 */
export async function recordAnswer(context: Context, answered: Answered): Promise<Transfer | null> {
  const { db, merchantId } = context
  return db.write(
    async (tx) => {
      const transfer = await lockTransfer(tx, { merchantId, orderId: answered.orderId })
      if (!transfer) return null
      const { answer } = answered
      const isAnswer = transfer.dueAt === answered.dueAt
      if (typeof answer === 'object' && 'state' in answer) {
        return applyReport(tx, context, { transfer, report: answer, isAnswer })
      }
      if (answer === 'CANCELLED') return cancelled(tx, context, transfer)
      if (!isAnswer) return transfer
      if (answer === 'NOT_FOUND') return notFound(tx, context, { transfer, answered })
      if (answer === 'TOO_LATE') return tooLate(tx, context, transfer)
      return unanswered(tx, context, { transfer, failure: answer.failure })
    },
    { merchantId },
  )
}

function unanswered(
  tx: Tx,
  context: Context,
  { transfer, failure }: { transfer: Transfer; failure: string },
): Promise<Transfer> {
  const again = askedAgain(context, transfer)
  if (transfer.state !== 'SUBMITTING') return changeTransfer(tx, transfer, again)
  return moveTransfer(tx, context, transfer, { state: 'UNKNOWN', cause: failure, ...again })
}

/** It goes on as if nobody had wanted it back, and says so to whoever did. */
function tooLate(tx: Tx, context: Context, transfer: Transfer): Promise<Transfer> {
  const { state } = transfer
  const goesOn = { cancelAskedAt: null, ...askedAgain(context, transfer) }
  return moveTransfer(tx, context, transfer, { state, cause: 'it is too late to cancel it', ...goesOn })
}

function askedAgain(context: Context, { asked }: Transfer) {
  return { asked: asked + 1, dueAt: nextQuestionAt(context, asked) }
}

/**
 * The bank is sure that it has no such order. It may be on its way still, so it is submitted under the same id or not at all,
 * and only while the bank promises to pay that once.
 */
function notFound(
  tx: Tx,
  context: Context,
  { transfer, answered }: { transfer: Transfer; answered: Answered },
): Promise<Transfer> {
  if (transfer.state === 'UNKNOWN' && transfer.cancelAskedAt === null && mayBeSubmitted(context, transfer, answered)) {
    // Before all that came later.
    const dueAt = queuedSince(Date.parse(transfer.createdAt) - context.aheadMs)
    return moveTransfer(tx, context, transfer, { state: 'QUEUED', cause: 'the bank has no such order', dueAt })
  }
  const isUnheardOf = transfer.state === 'UNKNOWN'
  const cause = isUnheardOf
    ? 'the bank has no such order, and may not be asked again without a person'
    : `the bank has no such order, of which it said ${transfer.state}`
  return moveTransfer(tx, context, transfer, { state: 'ATTENTION', cause, dueAt: null })
}

async function cancelled(tx: Tx, context: Context, transfer: Transfer): Promise<Transfer> {
  // Several may have asked at once, and a bank that takes an order back may report it as rejected before it answers.
  if (transfer.state === 'CANCELLED' || transfer.state === 'REJECTED') return transfer
  if (transfer.state === 'ATTENTION') {
    return noteSaying(tx, context, { transfer, said: 'CANCELLED', reference: transfer.reference })
  }
  if (transfer.state !== 'ACCEPTED' && transfer.state !== 'UNKNOWN') {
    const cause = `the bank says CANCELLED of what was ${transfer.state}`
    return moveTransfer(tx, context, transfer, { state: 'ATTENTION', cause, dueAt: null })
  }
  await settleWithin(tx, context, { payoutId: transfer.payoutId, status: 'FAILED', cause: 'cancelled' })
  return moveTransfer(tx, context, transfer, { state: 'CANCELLED', dueAt: null, cancelAskedAt: null })
}
