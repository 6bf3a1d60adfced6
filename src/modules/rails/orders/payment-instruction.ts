import type { Context } from '../../../operations/context.ts'
import type { Payout } from '../../payouts/payout.ts'
import { localTransferTypeFor } from '../../payouts/payout.ts'
import type { RailOrder } from '../../rail-orders/rail-order.ts'
import type { PaymentInstruction } from '../adapters/rail.ts'

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
