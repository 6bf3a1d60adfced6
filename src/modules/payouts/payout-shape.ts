import { amount, decimal, oneOf, plainText, text, timestamp, uuid } from '../../rest/json-types.ts'
import { constant, member, nullable, nullInExample, resource } from '../../rest/shape.ts'
import { networks } from '../networks/network.ts'
import type { Payout } from './payout.ts'
import {
  corridors,
  payoutAssetCodes,
  payoutDescriptions,
  payoutReason,
  payoutStatuses,
  recipientCountries,
  recipientCurrencies,
  transferTypes,
} from './payout.ts'

/** Contract 2.5. */
export const payout = resource<Payout>('Payout', 'A withdrawal from a stablecoin wallet to a bank account.', {
  id: member((payout) => payout.id, uuid('The id of the payout.', '01980c60-1f2e-7d3c-8b4a-5a6978879605')),
  sender_wallet_id: member(
    (payout) => payout.walletId,
    uuid(payoutDescriptions.wallet, '01980c5e-9c44-7e0a-b6f1-2a3b4c5d6e7f'),
  ),
  receiver_wallet_id: nullInExample(
    (payout) => payout.receiverWalletId,
    uuid('Null today. Reserved for the wallet that receives a payout to another wallet.'),
  ),
  transaction_id: member(
    (payout) => payout.transactionId,
    plainText(payoutDescriptions.transactionId, 'K7Q2M9X4T1', {
      pattern: '^[A-Z0-9]{10}([A-Z0-9]{2})?$',
    }),
  ),
  asset_code: member((payout) => payout.assetCode, oneOf(payoutDescriptions.assetCode, payoutAssetCodes)),
  amount: member((payout) => payout.amount, amount(payoutDescriptions.amount, '25.50000000')),
  reference_id: member(
    (payout) => payout.referenceId,
    uuid(payoutDescriptions.referenceId, '01980c60-1f2f-7a1b-9c2d-3e4f50617283'),
  ),
  status: member((payout) => payout.status, oneOf(payoutDescriptions.status, payoutStatuses)),
  created_at: member((payout) => payout.createdAt, timestamp(payoutDescriptions.createdAt)),
  updated_at: member((payout) => payout.updatedAt, timestamp(payoutDescriptions.updatedAt)),
  crypto_transaction_id: nullInExample(
    (payout) => payout.cryptoTransactionId,
    text('Null today. Reserved for the blockchain transaction of a payout to a crypto address.', '0x…'),
  ),
  network: nullInExample(
    (payout) => payout.network,
    oneOf('Null today. Reserved for the network of `crypto_transaction_id`.', networks),
  ),
  transaction_type: constant('The type of transaction.', 'PAYOUT'),
  transaction_mode: constant('The direction of the money, seen from the wallet.', 'DEBIT'),
  exchange_rate: member((payout) => payout.exchangeRate, text(payoutDescriptions.exchangeRate, '1500')),
  withdrawal_recipient_name: member(
    (payout) => payout.recipientName,
    text(payoutDescriptions.recipientName, 'Ada Obi'),
  ),
  fee: nullable(
    (payout) => payout.fee,
    amount(
      'The fee, deducted from the amount or from the balance of the wallet; null if no fee was set.',
      '0.50000000',
    ),
  ),
  balance: member((payout) => payout.balanceAfter, amount(payoutDescriptions.balance, '224.00000000')),
  reason: member(payoutReason, text(payoutDescriptions.reason, 'Withdraw to 0690000032/044')),
  customer_id: nullInExample((payout) => payout.customerId, uuid(payoutDescriptions.customer)),
  recipient_currency: member(
    (payout) => payout.recipientCurrency,
    oneOf(payoutDescriptions.recipientCurrency, recipientCurrencies),
  ),
  recipient_country: member(
    (payout) => payout.recipientCountry,
    oneOf(payoutDescriptions.recipientCountry, recipientCountries),
  ),
  bank_name: member((payout) => payout.bankName, text(payoutDescriptions.bankName, 'Access Bank')),
  bank_code: member((payout) => payout.bankCode, text(payoutDescriptions.bankCode, '044')),
  address: nullInExample(
    (payout) => payout.address,
    text('Null today. Reserved for the recipient address of `crypto_transaction_id`.', '0x…'),
  ),
  bank_account: member((payout) => payout.accountNumber, text(payoutDescriptions.accountNumber, '0690000032')),
  amount_fiat: member(
    (payout) => payout.amountFiat,
    decimal(
      'The amount that the recipient gets: `amount`, less a fee that is deducted from it, times `exchange_rate`, rounded down to the minor unit of the currency.',
      '38250.00000000',
    ),
  ),
  fiat_reference_id: nullInExample(
    (payout) => payout.fiatReferenceId,
    text('The bank’s reference, once a rail has reported one.', 'FT26061'),
  ),
  narration: nullable((payout) => payout.narration, text(payoutDescriptions.narration, 'Happy birthday')),
  transfer_type: member(
    (payout) => payout.transferType,
    oneOf(payoutDescriptions.transferType, [
      ...transferTypes,
      ...corridors.map(({ localTransferType }) => localTransferType),
    ]),
  ),
  provider_transfer_type: constant('The kind of rail.', 'LOCAL'),
})
