import { amount, decimal, oneOf, plainText, text, timestamp, uuid } from '../../rest/json-types.ts'
import { constant, member, nullable, nullInExample, resource } from '../../rest/shape.ts'
import { networks } from '../networks/network.ts'
import type { Payout } from './payout.ts'
import { corridors, payoutAssetCodes, payoutReason, payoutStatuses, recipientCountries, recipientCurrencies, transferTypes } from './payout.ts'

/** The wire shape of contract 2.5. */
export const payout = resource<Payout>('Payout', 'A withdrawal from a stablecoin wallet to a bank account.', {
  id: member((payout) => payout.id, uuid('The id of the payout.', '01980c60-1f2e-7d3c-8b4a-5a6978879605')),
  sender_wallet_id: member(
    (payout) => payout.walletId,
    uuid('The wallet that paid.', '01980c5e-9c44-7e0a-b6f1-2a3b4c5d6e7f'),
  ),
  receiver_wallet_id: nullInExample(
    (payout) => payout.receiverWalletId,
    uuid('The wallet that receives it, for one that stays among wallets.'),
  ),
  transaction_id: member(
    (payout) => payout.transactionId,
    plainText('Ten capital letters and digits that name it to people; twelve in the oldest payouts.', 'K7Q2M9X4T1', {
      pattern: '^[A-Z0-9]{10}([A-Z0-9]{2})?$',
    }),
  ),
  asset_code: member((payout) => payout.assetCode, oneOf('The stablecoin that it is made from.', payoutAssetCodes)),
  amount: member((payout) => payout.amount, amount('The amount that was asked for.', '25.50000000')),
  reference_id: member(
    (payout) => payout.referenceId,
    uuid('A reference for the bank.', '01980c60-1f2f-7a1b-9c2d-3e4f50617283'),
  ),
  status: member((payout) => payout.status, oneOf('How far it has come: it begins as `PROCESSING`.', payoutStatuses)),
  created_at: member((payout) => payout.createdAt, timestamp('When it was made.')),
  updated_at: member((payout) => payout.updatedAt, timestamp('When its status last changed.')),
  crypto_transaction_id: nullInExample(
    (payout) => payout.cryptoTransactionId,
    text('The transaction on the blockchain, once there is one.', '0x…'),
  ),
  network: nullInExample(
    (payout) => payout.network,
    oneOf('The network of `crypto_transaction_id`, once there is one.', networks),
  ),
  transaction_type: constant('What kind of transaction it is.', 'PAYOUT'),
  transaction_mode: constant('Which way the money went, seen from the wallet.', 'DEBIT'),
  exchange_rate: member(
    (payout) => payout.exchangeRate,
    text('What one unit of the stablecoin is worth in the currency of the recipient.', '1500'),
  ),
  withdrawal_recipient_name: member((payout) => payout.recipientName, text('Who gets it.', 'Ada Obi')),
  fee: nullable(
    (payout) => payout.fee,
    amount(
      'The fee, deducted from the amount or from the balance of the wallet, as it was set; null where none was set.',
      '0.50000000',
    ),
  ),
  balance: member(
    (payout) => payout.balanceAfter,
    amount('What the paying wallet held after amount and fee had left.', '224.00000000'),
  ),
  reason: member(payoutReason, text('The service’s own words for it.', 'Withdraw to 0690000032/044')),
  customer_id: nullInExample(
    (payout) => payout.customerId,
    uuid('The customer whose wallet paid; null when it was the merchant’s own.'),
  ),
  recipient_currency: member(
    (payout) => payout.recipientCurrency,
    oneOf('The currency that arrives.', recipientCurrencies),
  ),
  recipient_country: member((payout) => payout.recipientCountry, oneOf('The country of the bank.', recipientCountries)),
  bank_name: member((payout) => payout.bankName, text('What the bank is called.', 'Access Bank')),
  bank_code: member((payout) => payout.bankCode, text('The code of the bank in its country.', '044')),
  address: nullInExample(
    (payout) => payout.address,
    text('The address that `crypto_transaction_id` sends to, once there is one.', '0x…'),
  ),
  bank_account: member((payout) => payout.accountNumber, text('The number of the account.', '0690000032')),
  amount_fiat: member(
    (payout) => payout.amountFiat,
    decimal(
      'What the recipient gets: `amount`, less a fee that is deducted from it, times `exchange_rate`, rounded down to what the currency can express.',
      '38250.00000000',
    ),
  ),
  fiat_reference_id: nullInExample(
    (payout) => payout.fiatReferenceId,
    text('The bank’s own reference, once there is one.', 'FT26061'),
  ),
  narration: nullable((payout) => payout.narration, text('What the recipient reads.', 'Happy birthday')),
  transfer_type: member(
    (payout) => payout.transferType,
    oneOf(
      'What was asked for, or `ach`. The bank is told the local rail whatever it says; older payouts have the name of that.',
      [...transferTypes, ...corridors.map(({ localTransferType }) => localTransferType)],
    ),
  ),
  provider_transfer_type: constant('Who carries it.', 'LOCAL'),
})
