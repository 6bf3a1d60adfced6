import type { z } from 'zod'
import { amountPattern, formatAmount } from '../money/amount.ts'
import { networks } from '../networks/network.ts'
import { listAnswer, listRoute, listSchemas } from '../rest/list-route.ts'
import type { JsonSchema, Reference } from '../rest/reference.ts'
import {
  addition,
  amount,
  idField,
  listOf,
  mostlyNull,
  object,
  oneOf,
  orNull,
  text,
  timestamp,
  uuid,
} from '../rest/reference.ts'
import type { WireNames } from '../rest/route.ts'
import { get, post } from '../rest/route.ts'
import { createPayout } from './create-payout.ts'
import { GetPayoutInput, getPayout } from './get-payout.ts'
import { payouts } from './list.ts'
import type { Payout } from './payout.ts'
import {
  corridors,
  payoutAssetCodes,
  payoutReason,
  payoutStatuses,
  recipientCountries,
  recipientCurrencies,
  transferTypes,
} from './payout.ts'
import { BankPayoutInput } from './payout-input.ts'

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

const identifierText = 'letters, digits, spaces, dots, slashes, underscores and hyphens'

const bankPayoutReference: Reference<z.input<typeof BankPayoutInput>> = {
  name: 'createPayout',
  title: 'Pay out to a bank account',
  description:
    'Withdraws an amount of a stablecoin to a bank account. Amount and fee leave the wallet together with the answer: the payout is `PROCESSING` then, and becomes `COMPLETED` or `FAILED`, and after `COMPLETED` possibly `RETURNED`; `FAILED` and `RETURNED` put amount and fee back. It is paid by the oldest active wallet of the owner in that currency that covers both.',
  fields: {
    customerId: idField('The customer whose wallet pays; without it, the merchant’s own pays.'),
    assetCode: 'The stablecoin that pays.',
    accountNumber: `The number of the account: ${identifierText}.`,
    bankName: 'What the bank is called.',
    bankCode: `The code of the bank in its country: ${identifierText}.`,
    amount: {
      pattern: amountPattern.source,
      description: 'What is paid out, above zero, in units of `currency`; the fee comes on top. It is never rounded.',
    },
    recipientName: 'Who gets it.',
    recipientCurrency: 'The currency that arrives.',
    recipientCountry: 'The country of the bank, which must be that of the currency.',
    paymentPurpose: 'What it is for; `OTHER` when it is left out.',
    narration: 'What the recipient reads.',
    transferType: 'An international way for the money; without it, it takes the local one of the country.',
  },
  example: {
    assetCode: 'USDC',
    amount: '25.50',
    recipientName: 'Ada Obi',
    accountNumber: '0690000032',
    bankName: 'Access Bank',
    bankCode: '044',
    recipientCurrency: 'NGN',
    recipientCountry: 'Nigeria',
    paymentPurpose: 'GIFTS',
    narration: 'Happy birthday',
  },
  refusals: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED', 'WALLET_NOT_FOUND', 'RATE_UNAVAILABLE', 'INSUFFICIENT_FUNDS'],
  answer: () => ({ data: payoutSchema() }),
}

const getReference: Reference<z.input<typeof GetPayoutInput>> = {
  name: 'getPayout',
  title: 'Get a payout',
  description: `Gives one payout of the merchant or of its customers as it is now: \`status\` says what became of it. ${addition}`,
  fields: { payoutId: idField('The id of the payout.') },
  example: { payoutId: '01980c60-1f2e-7d3c-8b4a-5a6978879605' },
  refusals: ['RESOURCE_NOT_FOUND'],
  answer: () => ({ data: payoutSchema() }),
}

export const payoutRoutes = [
  listRoute('/api/payouts', payouts, {
    name: 'listPayouts',
    title: 'List payouts',
    description: `Lists the payouts of the merchant and of its customers as they are now, newest first. With a filter the list has the newest 10,000 that match; \`created_before\` reaches those before. ${addition}`,
    times: {
      createdFrom: 'Only payouts made at this time or later.',
      createdBefore: 'Only payouts made before this time.',
    },
    example: { status: 'PROCESSING', limit: 2 },
    answer: listAnswer(payoutJson),
    schemas: listSchemas(() => listOf('The payouts of the page.', payoutSchema())),
  }),
  get('/api/payouts/:payout_id', GetPayoutInput, { payoutId: 'payout_id' }, getReference, async (context, input) => ({
    data: payoutJson(await getPayout(context, input)),
  })),
  post('/api/payouts/banks', BankPayoutInput, bankPayoutNames, bankPayoutReference, async (context, input) => {
    const { result, isReplayed } = await context.perform(createPayout, context, input)
    return { isReplayed, data: payoutJson(result) }
  }),
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

function payoutSchema(): JsonSchema {
  return object<ReturnType<typeof payoutJson>>(
    'A withdrawal from a stablecoin wallet to a bank account.',
    {
      id: uuid('The id of the payout.', '01980c60-1f2e-7d3c-8b4a-5a6978879605'),
      sender_wallet_id: uuid('The wallet that paid.', '01980c5e-9c44-7e0a-b6f1-2a3b4c5d6e7f'),
      receiver_wallet_id: mostlyNull(uuid('The wallet that receives it, for one that stays among wallets.')),
      transaction_id: {
        ...text('Ten capital letters and digits that name it to people; twelve in the oldest payouts.', 'K7Q2M9X4T1'),
        pattern: '^[A-Z0-9]{10}([A-Z0-9]{2})?$',
      },
      asset_code: oneOf('The stablecoin that it is made from.', payoutAssetCodes),
      amount: amount('What is paid out, without the fee.', '25.50000000'),
      reference_id: uuid('A reference for the bank.', '01980c60-1f2f-7a1b-9c2d-3e4f50617283'),
      status: oneOf('How far it has come: it begins as `PROCESSING`.', payoutStatuses),
      created_at: timestamp('When it was made.'),
      updated_at: timestamp('When its status last changed.'),
      crypto_transaction_id: mostlyNull(text('The transaction on the blockchain, once there is one.', '0x…')),
      network: mostlyNull(oneOf('The network of `crypto_transaction_id`, once there is one.', networks)),
      transaction_type: oneOf('What kind of transaction it is.', ['PAYOUT']),
      transaction_mode: oneOf('Which way the money went, seen from the wallet.', ['DEBIT']),
      exchange_rate: text('What one unit of the stablecoin is worth in the currency of the recipient.', '1500'),
      withdrawal_recipient_name: text('Who gets it.', 'Ada Obi'),
      fee: orNull(amount('What the wallet paid on top; null where no fee was set.', '0.50000000')),
      balance: amount('What the paying wallet held after amount and fee had left.', '224.00000000'),
      reason: text('The service’s own words for it.', 'Withdraw to 0690000032/044'),
      customer_id: mostlyNull(uuid('The customer whose wallet paid; null when it was the merchant’s own.')),
      recipient_currency: oneOf('The currency that arrives.', recipientCurrencies),
      recipient_country: oneOf('The country of the bank.', recipientCountries),
      bank_name: text('What the bank is called.', 'Access Bank'),
      bank_code: text('The code of the bank in its country.', '044'),
      address: mostlyNull(text('The address that `crypto_transaction_id` sends to, once there is one.', '0x…')),
      bank_account: text('The number of the account.', '0690000032'),
      amount_fiat: amount(
        'What the recipient gets: `amount` times `exchange_rate`, rounded down to what the currency can express.',
        '38250.00000000',
      ),
      fiat_reference_id: mostlyNull(text('The bank’s own reference, once there is one.', 'FT26061')),
      narration: orNull(text('What the recipient reads.', 'Happy birthday')),
      transfer_type: oneOf('The way that the money takes: the local one of the country, or the one asked for.', [
        ...corridors.map(({ localTransferType }) => localTransferType),
        ...transferTypes,
      ]),
      provider_transfer_type: oneOf('Who carries it.', ['LOCAL']),
    },
    { title: 'Payout' },
  )
}
