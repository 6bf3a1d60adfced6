import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { Amount } from '../../core/money/amount.ts'
import type { Payout, PayoutStatus } from '../payouts/payout.ts'
import { payoutReason } from '../payouts/payout.ts'
import { depositTransactionId } from '../payouts/transaction-id.ts'
import type { Deposit } from '../wallets/deposit-to-wallet.ts'

export const transactionStatuses = defineEnum({
  PROCESSING: 'A payout is on its way to the bank account.',
  COMPLETED: 'The bank has paid a payout, or a deposit was credited.',
  FAILED: 'The bank did not pay a payout; amount and fee are back in the wallet.',
  CANCELLED: 'A payout was cancelled before the bank paid; amount and fee are back in the wallet.',
  REVERSED: 'The bank returned a payout after it had paid, or a deposit was reversed.',
})
export type TransactionStatus = (typeof transactionStatuses)[number]

/**
 * The service has no internal transfers, but clients of the original provider filter by `INTERNAL TRANSFER` (ruling
 * 131).
 */
export const transactionTypes = defineEnum({
  DEPOSIT: 'Money arrived in a wallet.',
  PAYOUT: 'Money left a wallet for a bank account.',
  'INTERNAL TRANSFER': 'Money moved between two wallets. There is none in this service.',
})
type TransactionType = (typeof transactionTypes)[number]

export const transactionModes = defineEnum({
  CREDIT: 'Money came into a wallet.',
  DEBIT: 'Money left a wallet.',
})
type TransactionMode = (typeof transactionModes)[number]

export type Transaction = {
  readonly merchantId: string
  readonly id: string
  readonly senderWalletId: string | null
  readonly receiverWalletId: string | null
  readonly transactionId: string
  readonly assetCode: string
  readonly amount: Amount
  readonly referenceId: string
  readonly status: TransactionStatus
  readonly createdAt: string
  readonly updatedAt: string
  readonly cryptoTransactionId: string | null
  readonly network: string | null
  readonly transactionType: TransactionType
  readonly transactionMode: TransactionMode
  readonly exchangeRate: string | null
  readonly recipientName: string | null
  readonly fee: Amount | null
  readonly balance: Amount
  readonly reason: string | null
  readonly customerId: string | null
  readonly recipientCurrency: string | null
  readonly recipientCountry: string | null
  readonly bankName: string | null
  readonly bankCode: string | null
  readonly address: string | null
  readonly bankAccount: string | null
}

export type PayoutRow = Omit<Payout, 'idempotencyKey' | 'fingerprint' | 'transferId'> & {
  readonly cancelledOrderId: string | null
}

/** `txHash` and `network` are `null` if the deposit has no blockchain transfer. */
export type DepositRow = Deposit & {
  readonly reversedAt: string | null
  readonly txHash: string | null
  readonly network: string | null
}

export function payoutTransaction(payout: PayoutRow): Transaction {
  const { merchantId, id, transactionId, assetCode, amount, referenceId, createdAt, updatedAt, exchangeRate } = payout
  const { cryptoTransactionId, network, recipientName, fee, customerId, recipientCurrency, recipientCountry } = payout
  const { bankName, bankCode, address, accountNumber, walletId, receiverWalletId, balanceAfter } = payout
  return {
    ...{ merchantId, id, transactionId, assetCode, amount, referenceId, createdAt, updatedAt, exchangeRate },
    ...{ cryptoTransactionId, network, recipientName, fee, customerId, recipientCurrency, recipientCountry },
    ...{ bankName, bankCode, address, receiverWalletId },
    senderWalletId: walletId,
    status: payout.cancelledOrderId === null ? statusOfPayout[payout.status] : 'CANCELLED',
    transactionType: 'PAYOUT',
    transactionMode: 'DEBIT',
    balance: balanceAfter,
    reason: payoutReason(payout),
    bankAccount: accountNumber,
  }
}

export const statusOfPayout = {
  PROCESSING: 'PROCESSING',
  COMPLETED: 'COMPLETED',
  FAILED: 'FAILED',
  RETURNED: 'REVERSED',
} as const satisfies Record<PayoutStatus, TransactionStatus>

/** A deposit has only one UUID, so its `reference_id` equals its id (ruling 132). */
export function depositTransaction(deposit: DepositRow): Transaction {
  const { merchantId, transferId, walletId, amount, balanceAfter, createdAt, customerId, network } = deposit
  return {
    ...{ merchantId, amount, createdAt, customerId, network },
    id: transferId,
    senderWalletId: null,
    receiverWalletId: walletId,
    transactionId: depositTransactionId(merchantId, deposit.sequence),
    // The original provider writes the asset of a deposit in lower case, but the asset of a payout in upper case.
    assetCode: deposit.assetCode.toLowerCase(),
    referenceId: transferId,
    status: deposit.reversedAt === null ? 'COMPLETED' : 'REVERSED',
    updatedAt: deposit.reversedAt ?? createdAt,
    cryptoTransactionId: deposit.txHash,
    transactionType: 'DEPOSIT',
    transactionMode: 'CREDIT',
    balance: balanceAfter,
    ...fieldsOfPayouts,
  }
}

const fieldsOfPayouts = {
  exchangeRate: null,
  recipientName: null,
  fee: null,
  reason: null,
  recipientCurrency: null,
  recipientCountry: null,
  bankName: null,
  bankCode: null,
  address: null,
  bankAccount: null,
}
