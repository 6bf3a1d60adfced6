import type { DueTime } from '../../../core/ids-and-clock.ts'
import { dueTimeAfter, timestamp } from '../../../core/ids-and-clock.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context } from '../../../operations/context.ts'
import { merchantWallTime } from '../../../operations/context.ts'
import { defineInternalOperation } from '../../../operations/define-operation.ts'
import { findPayout } from '../../payouts/get-payout.ts'
import type { Payout } from '../../payouts/payout.ts'
import { localTransferTypeFor } from '../../payouts/payout.ts'
import type { RailOrder } from '../../rail-orders/rail-order.ts'
import { lockRailOrder } from '../../rail-orders/repository.ts'
import { transitionRailOrder, updateRailOrder } from '../../rail-orders/transition-order.ts'
import type { PaymentInstruction, Rail } from '../adapters/rail.ts'

/** What the bank is to be asked, and by what the answer is known to be to this question: `dueAt`. */
export type ClaimedRailCall = {
  readonly call: 'submit' | 'find' | 'cancel'
  readonly order: PaymentInstruction
  readonly dueAt: DueTime
}

/** The longest that a call to a rail takes, and for how long it may be given an order again. */
export type RailCallLimits = Pick<Rail, 'callMs' | 'idempotentForMs'>

/** What a call is begun for. */
type BeginCallArgs = { readonly orderId: string; readonly rail: RailCallLimits }

/** How much longer than a call may take it is another's: clocks differ, and what comes of it must be recorded too. */
const claimMarginMs = 30_000

/**
 * Takes what is due of an order, for this process alone until the answer must have come. That the bank is about to be asked to
 * pay is durable before it is; whoever finds it so later, and no answer, asks what became of it.
 *
 * @returns `null` where nothing is due, because another has begun it or it is over
 */
export const beginCall = defineInternalOperation(
  'beginCall',
  async (context: Context, { orderId, rail }: BeginCallArgs): Promise<ClaimedRailCall | null> => {
    const { db, merchantId } = context
    return db.write(
      async (tx) => {
        const transfer = await lockRailOrder(tx, { merchantId, orderId })
        return transfer && beginDueCall(tx, context, { transfer, rail })
      },
      { merchantId },
    )
  },
)

/** The same as part of a transaction that has the transfer for itself. */
export async function beginDueCall(
  tx: Tx,
  context: Context,
  { transfer, rail }: { transfer: RailOrder; rail: RailCallLimits },
): Promise<ClaimedRailCall | null> {
  const time = context.wallClock()
  // What is queued waits for its turn, and for no time.
  if (transfer.dueAt === null || (transfer.state !== 'QUEUED' && transfer.dueAt > BigInt(time))) return null
  const payout = await findPayout(tx, context, transfer.payoutId)
  const dueAt = dueTimeAfter(rail.callMs + claimMarginMs, time)
  const taken = await claimRailOrder(tx, context, { railOrder: transfer, dueAt, rail })
  // By turns, so that what a bank does not answer that question about is heard of all the same.
  const wantsCancel = taken.cancelAskedAt !== null && taken.asked % 2 === 0
  const isNew = taken.state === 'SUBMITTING'
  const call = isNew ? 'submit' : wantsCancel ? 'cancel' : 'find'
  return { call, order: createPaymentInstruction(payout, taken, context), dueAt }
}

type ClaimArgs = { readonly railOrder: RailOrder; readonly dueAt: DueTime; readonly rail: RailCallLimits }

function claimRailOrder(tx: Tx, context: Context, { railOrder: transfer, dueAt, rail }: ClaimArgs): Promise<RailOrder> {
  switch (transfer.state) {
    case 'QUEUED': {
      if (!canBeSubmitted(context, transfer, rail)) {
        // It has waited for longer than the bank promises to pay it once, for a rail that was paused or down.
        const cause = 'it has waited too long to be submitted again'
        return transitionRailOrder(tx, context, transfer, { state: 'UNKNOWN', cause, dueAt, asked: 0 })
      }
      const submittedAt = transfer.submittedAt ?? timestamp(merchantWallTime(context))
      const attempts = transfer.attempts + 1
      // What was not taken before is asked for less and less often: that it is not there is nothing new.
      return transitionRailOrder(tx, context, transfer, { state: 'SUBMITTING', dueAt, attempts, submittedAt })
    }
    case 'SUBMITTING':
      // Whoever submitted it is gone, or is slower than a call may be.
      return transitionRailOrder(tx, context, transfer, { state: 'UNKNOWN', cause: 'no answer was recorded', dueAt })
    default:
      return updateRailOrder(tx, transfer, { dueAt })
  }
}

/** By how much the clocks of several machines may differ. */
const maxClockSkewMs = 60_000

/** Whether the bank pays an order once if it is submitted now: always the first time, and then for as long as it promises. */
export function canBeSubmitted(
  context: Pick<Context, 'wallClock' | 'aheadMs'>,
  { attempts, submittedAt, createdAt }: RailOrder,
  { idempotentForMs }: Pick<Rail, 'idempotentForMs'>,
): boolean {
  if (attempts === 0) return true
  const agoMs = merchantWallTime(context) - Date.parse(submittedAt ?? createdAt)
  // One of the future was submitted by a clock that was ahead, so nobody knows how long ago.
  return agoMs >= -maxClockSkewMs && agoMs <= idempotentForMs
}

/** What a bank is asked for, of a payout and how far it has come. */
export function createPaymentInstruction(
  payout: Payout,
  transfer: RailOrder,
  { now }: Pick<Context, 'now'>,
): PaymentInstruction {
  return {
    id: transfer.orderId,
    transactionId: payout.transactionId,
    amount: payout.amountFiat,
    currency: payout.recipientCurrency,
    country: payout.recipientCountry,
    transferType: localTransferTypeFor(payout.recipientCurrency),
    recipient: {
      name: payout.recipientName,
      accountNumber: payout.accountNumber,
      bankName: payout.bankName,
      bankCode: payout.bankCode,
    },
    purpose: payout.paymentPurpose,
    narration: payout.narration,
    createdAt: payout.createdAt,
    submittedAt: transfer.submittedAt ?? payout.createdAt,
    attempts: transfer.attempts,
    now: now(),
  }
}
