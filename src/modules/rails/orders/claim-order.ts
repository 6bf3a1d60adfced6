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

/** `dueAt` is the fencing token of the claim on the order. */
export type ClaimedRailCall = {
  readonly call: 'submit' | 'find' | 'cancel'
  readonly order: PaymentInstruction
  readonly dueAt: DueTime
}

export type RailCallLimits = Pick<Rail, 'callMs' | 'idempotentForMs'>

type BeginCallArgs = { readonly orderId: string; readonly rail: RailCallLimits }

/**
 * The claim's lease exceeds the call's timeout by this margin, for clock skew and for recording the bank's response.
 */
const claimMarginMs = 30_000

/**
 * The claim on an order is a lease that ends after the call's timeout. The state `SUBMITTING` is committed before the
 * bank is called, so after a crash the service polls for the outcome instead of submitting again.
 *
 * @returns `null` if no call is due, because another process has claimed the order or the order has ended
 */
export const beginCall = defineInternalOperation(
  'beginCall',
  async (context: Context, { orderId, rail }: BeginCallArgs): Promise<ClaimedRailCall | null> => {
    const { db, merchantId } = context
    return db.write(
      async (tx) => {
        const railOrder = await lockRailOrder(tx, { merchantId, orderId })
        return railOrder && beginDueCall(tx, context, { railOrder, rail })
      },
      { merchantId },
    )
  },
)

/** The caller's transaction must have locked the rail order. */
export async function beginDueCall(
  tx: Tx,
  context: Context,
  { railOrder, rail }: { railOrder: RailOrder; rail: RailCallLimits },
): Promise<ClaimedRailCall | null> {
  const time = context.wallClock()
  // `dueAt` only determines the position of a queued order in the queue. A queued order is always due.
  if (railOrder.dueAt === null || (railOrder.state !== 'QUEUED' && railOrder.dueAt > BigInt(time))) return null
  const payout = await findPayout(tx, context, railOrder.payoutId)
  const dueAt = dueTimeAfter(rail.callMs + claimMarginMs, time)
  const claimed = await claimRailOrder(tx, context, { railOrder, dueAt, rail })
  // Calls of `cancel` alternate with `find`, so that the order's state becomes known even if the bank does not respond
  // to `cancel`.
  const wantsCancel = claimed.cancelAskedAt !== null && claimed.asked % 2 === 0
  const isNew = claimed.state === 'SUBMITTING'
  const call = isNew ? 'submit' : wantsCancel ? 'cancel' : 'find'
  return { call, order: createPaymentInstruction(payout, claimed, context), dueAt }
}

type ClaimArgs = { readonly railOrder: RailOrder; readonly dueAt: DueTime; readonly rail: RailCallLimits }

function claimRailOrder(tx: Tx, context: Context, { railOrder, dueAt, rail }: ClaimArgs): Promise<RailOrder> {
  switch (railOrder.state) {
    case 'QUEUED': {
      if (!canBeSubmitted(context, railOrder, rail)) {
        // `idempotentForMs` has elapsed, for example while the rail was paused or down. Another submission might cause
        // a second payment.
        const cause = 'the order has waited so long that another submission could pay it twice'
        return transitionRailOrder(tx, context, railOrder, { state: 'UNKNOWN', cause, dueAt, asked: 0 })
      }
      const submittedAt = railOrder.submittedAt ?? timestamp(merchantWallTime(context))
      const attempts = railOrder.attempts + 1
      // The poll count `asked` is not reset, so that the poll interval also grows across several submissions.
      return transitionRailOrder(tx, context, railOrder, { state: 'SUBMITTING', dueAt, attempts, submittedAt })
    }
    case 'SUBMITTING':
      // The process that submitted the order has died, or the call has exceeded its timeout.
      return transitionRailOrder(tx, context, railOrder, {
        state: 'UNKNOWN',
        cause: 'no response of the bank was recorded',
        dueAt,
      })
    default:
      return updateRailOrder(tx, railOrder, { dueAt })
  }
}

const maxClockSkewMs = 60_000

/** Within `idempotentForMs`, another submission causes no second payment. */
export function canBeSubmitted(
  context: Pick<Context, 'wallClock' | 'aheadMs'>,
  { attempts, submittedAt, createdAt }: RailOrder,
  { idempotentForMs }: Pick<Rail, 'idempotentForMs'>,
): boolean {
  if (attempts === 0) return true
  const agoMs = merchantWallTime(context) - Date.parse(submittedAt ?? createdAt)
  // If the submission time is in the future, a clock was ahead, and the real submission time is unknown.
  return agoMs >= -maxClockSkewMs && agoMs <= idempotentForMs
}

export function createPaymentInstruction(
  payout: Payout,
  railOrder: RailOrder,
  { now }: Pick<Context, 'now'>,
): PaymentInstruction {
  return {
    id: railOrder.orderId,
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
    submittedAt: railOrder.submittedAt ?? payout.createdAt,
    attempts: railOrder.attempts,
    now: now(),
  }
}
