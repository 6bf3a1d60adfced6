import type { z } from 'zod'
import { formatAmount } from '../money/amount.ts'
import type { WireNames } from '../rest/route.ts'
import { post } from '../rest/route.ts'
import { BankPayoutInput, createPayout } from './create-payout.ts'
import type { Payout } from './payout.ts'
import { payoutReason } from './payout.ts'

const bankPayoutNames: WireNames<z.input<typeof BankPayoutInput>> = {
  customerId: 'customer_id',
  assetCode: 'currency',
  accountNumber: 'account_number',
  bankName: 'bank_name',
  bankCode: 'bank_code',
  amount: 'amount',
  recipientName: 'recipient_name',
  recipientCurrency: 'recipient_currency',
  recipientCountry: 'recipient_country',
  paymentPurpose: 'payment_purpose',
  narration: 'narration',
  transferType: 'transfer_type',
}

export const payoutRoutes = [
  post('/api/payouts/banks', BankPayoutInput, bankPayoutNames, async (context, input) => ({
    data: payoutJson(await createPayout(context, input)),
  })),
]

/** The wire shape of contract 2.5: frozen, so every key is spelled out. */
function payoutJson(payout: Payout) {
  return {
    id: payout.id,
    sender_wallet_id: payout.walletId,
    receiver_wallet_id: payout.receiverWalletId,
    transaction_id: payout.transactionId,
    asset_code: payout.assetCode,
    amount: formatAmount(payout.amount),
    reference_id: payout.referenceId,
    status: payout.status,
    created_at: payout.createdAt,
    updated_at: payout.updatedAt,
    crypto_transaction_id: payout.cryptoTransactionId,
    network: payout.network,
    transaction_type: 'PAYOUT',
    transaction_mode: 'DEBIT',
    exchange_rate: payout.exchangeRate,
    withdrawal_recipient_name: payout.recipientName,
    fee: payout.fee === null ? null : formatAmount(payout.fee),
    balance: formatAmount(payout.balanceAfter),
    reason: payoutReason(payout),
    customer_id: payout.customerId,
    recipient_currency: payout.recipientCurrency,
    recipient_country: payout.recipientCountry,
    bank_name: payout.bankName,
    bank_code: payout.bankCode,
    address: payout.address,
    bank_account: payout.accountNumber,
    amount_fiat: payout.amountFiat,
    fiat_reference_id: payout.fiatReferenceId,
    narration: payout.narration,
    transfer_type: payout.transferType,
    provider_transfer_type: 'LOCAL',
  }
}
