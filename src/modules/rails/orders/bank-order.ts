import type { Context } from '../../../operations/context.ts'
import type { Payout } from '../../payouts/payout.ts'
import { localRailTo } from '../../payouts/payout.ts'
import type { Transfer } from '../../rail-orders/rail-order.ts'
import type { Order } from '../adapters/rail.ts'

/** What a bank is asked for, of a payout and how far it has come. */
export function orderOf(payout: Payout, transfer: Transfer, { now }: Pick<Context, 'now'>): Order {
  return {
    id: transfer.orderId,
    transactionId: payout.transactionId,
    amount: payout.amountFiat,
    currency: payout.recipientCurrency,
    country: payout.recipientCountry,
    transferType: localRailTo(payout.recipientCurrency),
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
