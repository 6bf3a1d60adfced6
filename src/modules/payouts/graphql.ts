import { addList, filterType } from '../../graphql/schema/connection-fields.ts'
import { valuesEnum } from '../../graphql/schema/enums.ts'
import {
  addField,
  belonging,
  column,
  columnHolding,
  columnOrNull,
  columns,
  columnsOrNull,
  leadsTo,
  made,
  madeOrNull,
  objectType,
} from '../../graphql/schema/fields.ts'
import { sourceOfList, sourceOfMany } from '../../graphql/schema/loader.ts'
import { nodeType } from '../../graphql/schema/node.ts'
import { Customer } from '../customers/graphql.ts'
import { LedgerEntry } from '../ledger/graphql.ts'
import { Merchant } from '../merchants/graphql.ts'
import { NetworkEnum } from '../networks/graphql.ts'
import { Check, PayoutMethod } from '../payout-methods/graphql.ts'
import { feeSources, sumsWithFee } from '../pricing/fees/fee.ts'
import { Wallet } from '../wallets/graphql.ts'
import { findPayoutEvents } from './find-payout-events.ts'
import { payouts } from './list.ts'
import type { PayoutEvent as PayoutEventRow, Payout as PayoutRow } from './payout.ts'
import { paymentPurposes, payoutReason, payoutStatuses } from './payout.ts'
import { payoutChecks } from './payout-checks.ts'
import { settledStatuses } from './settle-payout.ts'

const PayoutStatusEnum = valuesEnum('PayoutStatus', payoutStatuses, 'How far a payout has come.')

export const FeeSourceEnum = valuesEnum('FeeSource', feeSources, 'What a fee is deducted from.')

export const SettledStatusEnum = valuesEnum('SettledStatus', settledStatuses, 'What can become of a payout.')

export const PaymentPurposeEnum = valuesEnum(
  'PaymentPurpose',
  paymentPurposes,
  'What a payout is for, as banks ask to know it.',
)

const PayoutEvent = objectType<PayoutEventRow>('PayoutEvent', {
  description: 'Something that became of a payout after it was made.',
  fields: {
    status: column('status', 'What it became.', SettledStatusEnum),
    cause: columnOrNull('cause', 'Why, in words of whoever reported it.'),
    transferId: column('transferId', 'The ledger transfer that belongs to it.', 'UUID'),
    createdAt: column('createdAt', 'When it became so.', 'DateTime'),
  },
})

export const Payout = nodeType<PayoutRow>('Payout', {
  description: 'A withdrawal from a stablecoin wallet to a bank account.',
  source: sourceOfList(payouts),
  fields: {
    uuid: column('id', 'The id that the REST answers show.', 'UUID'),
    referenceId: column('referenceId', 'A reference for the bank.', 'UUID'),
    status: column('status', 'How far it has come.', PayoutStatusEnum),
    amount: column('amount', 'The amount that was asked for.', 'Amount'),
    fee: columnOrNull('fee', 'The fee; null where none was set.', 'Amount'),
    feeDeductedFrom: madeOrNull(
      FeeSourceEnum,
      ['fee', 'feeDeductedFrom'],
      'What the fee was deducted from; null where none was set.',
      ({ fee, feeDeductedFrom }) => (fee === null ? null : (feeDeductedFrom ?? 'BALANCE')),
    ),
    netAmount: made(
      'Amount',
      ['amount', 'fee', 'feeDeductedFrom'],
      'The part of the amount that is converted: all of it, or less the fee where that was deducted from it.',
      (payout) => sumsWithFee(payout).netAmount,
    ),
    total: made(
      'Amount',
      ['amount', 'fee', 'feeDeductedFrom'],
      'What left the wallet: the amount, and the fee where that was deducted from the balance.',
      (payout) => sumsWithFee(payout).total,
    ),
    balance: column('balanceAfter', "The paying wallet's, after amount and fee had left.", 'Amount'),
    exchangeRate: column(
      'exchangeRate',
      'What one unit of the stablecoin is worth in the currency of the recipient.',
      'Decimal',
    ),
    amountFiat: column(
      'amountFiat',
      'What the recipient gets, rounded down to what the currency can express.',
      'Decimal',
    ),
    ...columns({
      transactionId: 'Ten capital letters and digits that name it to people; twelve in the oldest payouts.',
      assetCode: 'The stablecoin that it is made from.',
      recipientName: 'Who gets it.',
      recipientCurrency: 'The code of the currency that arrives.',
      recipientCountry: 'The country of the bank.',
      bankName: 'What the bank is called.',
      bankCode: 'The code of the bank in its country.',
      accountNumber: 'The number of the account.',
      transferType:
        'What was asked for, or `ach`. The bank is told the local rail whatever it says; older payouts have the name of that.',
    }),
    paymentPurpose: columnHolding('paymentPurpose', 'What it is for.', PaymentPurposeEnum),
    reason: made('String', ['accountNumber', 'bankCode'], "The service's own words for it.", payoutReason),
    receiverWalletId: columnOrNull(
      'receiverWalletId',
      'Null today. Reserved for the wallet that receives a payout to another wallet, once there are such.',
      'UUID',
    ),
    ...columnsOrNull({
      narration: 'What the recipient reads.',
      cryptoTransactionId:
        'Null today. Reserved for the transaction on the blockchain of a payout to a crypto address, once there are such.',
      address: 'Null today. Reserved for the address that `cryptoTransactionId` sends to.',
      fiatReferenceId: "The bank's own reference, once a rail has reported one.",
      // For everybody who may read the payout (ruling 119).
      idempotencyKey: 'The idempotency key that it was made with; null where it was made without one.',
    }),
    network: columnHolding(
      'network',
      'Null today. Reserved for the blockchain network of `cryptoTransactionId`.',
      NetworkEnum,
      { isNullable: true },
    ),
    checks: made(
      [Check],
      ['recipientCurrency', 'accountNumber', 'bankCode'],
      'What the checks of the account number find; a payout is made even where one fails.',
      payoutChecks,
    ),
    wallet: leadsTo(Wallet, 'walletId', 'The wallet that paid.'),
    customer: leadsTo(Customer, 'customerId', 'The customer whose wallet paid; null when it was the merchant’s own.'),
    recipientMethod: leadsTo(
      PayoutMethod,
      'payoutMethodId',
      'The method that it was made to, if one was named and is still there. It may have changed since.',
    ),
    events: belonging(
      PayoutEvent,
      sourceOfMany(findPayoutEvents, ({ payoutId }) => payoutId),
      'What became of it, oldest first; two at most.',
    ),
    createdAt: column('createdAt', 'When it was made.', 'DateTime'),
    updatedAt: column('updatedAt', 'When its status last changed.', 'DateTime'),
  },
})

addField(LedgerEntry, 'payout', leadsTo(Payout, 'payoutId', 'The payout that moved the money; null for a deposit.'))

const OwnedPayoutFilter = filterType('OwnedPayoutFilter', payouts, {
  which: 'Which payouts of an owner or a wallet',
  known: ['owner', 'walletId'],
})

addList('payouts', payouts, {
  of: Payout,
  items: 'payouts',
  places: [
    {
      shows: 'The payouts of the merchant and of its customers',
      filter: filterType('PayoutFilter', payouts, { which: 'Which payouts' }),
    },
    {
      on: Merchant,
      owner: 'merchant',
      shows: "The payouts from the merchant's own wallets",
      filter: OwnedPayoutFilter,
    },
    { on: Customer, parent: 'customer', shows: 'The payouts from its wallets', filter: OwnedPayoutFilter },
    { on: Wallet, parent: 'wallet', shows: 'The payouts that it paid', filter: OwnedPayoutFilter },
  ],
})
