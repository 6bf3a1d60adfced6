import { amount, oneOf, plainText, text, timestamp, uuid } from '../../rest/json-types.ts'
import type { ShapeMembers } from '../../rest/shape.ts'
import { member, nullable, nullInExample, resource } from '../../rest/shape.ts'
import { networks } from '../networks/network.ts'
import { payoutDescriptions, recipientCountries, recipientCurrencies } from '../payouts/payout.ts'
import type { Transaction } from './wallet-transaction.ts'
import { transactionModes, transactionStatuses, transactionTypes } from './wallet-transaction.ts'

/** The original provider's transactions have these 26 members, in this order. */
const members: ShapeMembers<Transaction> = {
  id: member(({ id }) => id, uuid('The id of the payout or deposit.', '01980c60-1f2e-7d3c-8b4a-5a6978879605')),
  sender_wallet_id: nullable(
    ({ senderWalletId }) => senderWalletId,
    uuid('The wallet that paid; null for a deposit.', '01980c5e-9c44-7e0a-b6f1-2a3b4c5d6e7f'),
  ),
  receiver_wallet_id: nullInExample(
    ({ receiverWalletId }) => receiverWalletId,
    uuid('The wallet that a deposit credited; null for a payout.'),
  ),
  transaction_id: member(
    ({ transactionId }) => transactionId,
    plainText('A short reference for people.', 'K7Q2M9X4T1', { pattern: '^[A-Z0-9]{10}([A-Z0-9]{2})?$' }),
  ),
  asset_code: member(
    ({ assetCode }) => assetCode,
    text('The asset: in upper case for a payout, and in lower case for a deposit.', 'USDC'),
  ),
  amount: member((row) => row.amount, amount('The amount.', '25.50000000')),
  reference_id: member(
    ({ referenceId }) => referenceId,
    uuid('The reference of a payout at the bank; for a deposit its id.', '01980c60-1f2f-7a1b-9c2d-3e4f50617283'),
  ),
  status: member(({ status }) => status, oneOf('The status.', transactionStatuses, 'COMPLETED')),
  created_at: member(({ createdAt }) => createdAt, timestamp('When the transaction was created.')),
  updated_at: member(({ updatedAt }) => updatedAt, timestamp(payoutDescriptions.updatedAt)),
  crypto_transaction_id: nullInExample(
    ({ cryptoTransactionId }) => cryptoTransactionId,
    text('The blockchain transaction of a deposit from a chain; null otherwise.', '0x…'),
  ),
  network: nullInExample(
    ({ network }) => network,
    oneOf('The network of `crypto_transaction_id`; null without one.', networks),
  ),
  transaction_type: member(
    ({ transactionType }) => transactionType,
    oneOf('The type of transaction.', transactionTypes, 'PAYOUT'),
  ),
  transaction_mode: member(
    ({ transactionMode }) => transactionMode,
    oneOf('The direction of the money, seen from the wallet.', transactionModes, 'DEBIT'),
  ),
  exchange_rate: nullable(({ exchangeRate }) => exchangeRate, text(payoutDescriptions.exchangeRate, '1500')),
  withdrawal_recipient_name: nullable(
    ({ recipientName }) => recipientName,
    text(payoutDescriptions.recipientName, 'Ada Obi'),
  ),
  fee: nullable(({ fee }) => fee, amount('The fee of a payout; null if no fee was set.', '0.50000000')),
  balance: member(({ balance }) => balance, amount('The balance of the wallet after the transaction.', '224.00000000')),
  reason: nullable(({ reason }) => reason, text(payoutDescriptions.reason, 'Withdraw to 0690000032/044')),
  customer_id: nullInExample(
    ({ customerId }) => customerId,
    uuid('The customer whose wallet it is; null for the merchant’s own.'),
  ),
  recipient_currency: nullable(
    ({ recipientCurrency }) => recipientCurrency,
    oneOf(payoutDescriptions.recipientCurrency, recipientCurrencies),
  ),
  recipient_country: nullable(
    ({ recipientCountry }) => recipientCountry,
    oneOf(payoutDescriptions.recipientCountry, recipientCountries),
  ),
  bank_name: nullable(({ bankName }) => bankName, text(payoutDescriptions.bankName, 'Access Bank')),
  bank_code: nullable(({ bankCode }) => bankCode, text(payoutDescriptions.bankCode, '044')),
  address: nullInExample(
    (row) => row.address,
    text('Null today. Reserved for the address that a payout goes to.', '0x…'),
  ),
  bank_account: nullable(({ bankAccount }) => bankAccount, text(payoutDescriptions.accountNumber, '0690000032')),
}

export const transaction = resource<Transaction>(
  'Transaction',
  'A payout or a deposit. Null for a deposit are all members of the recipient and the bank.',
  members,
)

/** `merchant_id` is the first member, like in the original provider's responses. */
export const customerTransaction = resource<Transaction>(
  'CustomerTransaction',
  'A payout or a deposit of one customer.',
  {
    merchant_id: member(
      ({ merchantId }) => merchantId,
      uuid('The id of the merchant.', '01980c5d-0000-7000-8000-000000000001'),
    ),
    ...members,
  },
)
