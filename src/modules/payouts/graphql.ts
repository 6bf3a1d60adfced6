import { addConnection, filterType } from '../../graphql/schema/connection-fields.ts'
import { enumType } from '../../graphql/schema/enums.ts'
import {
  addField,
  computedField,
  exposeColumn,
  exposeColumnAs,
  exposeNullableColumn,
  exposeNullableStrings,
  exposeStrings,
  nullableComputedField,
  objectType,
  relatedListField,
  relationField,
} from '../../graphql/schema/fields.ts'
import { sourceByForeignKey, sourceOfList } from '../../graphql/schema/loader.ts'
import { nodeType } from '../../graphql/schema/node.ts'
import { Customer } from '../customers/graphql.ts'
import { LedgerEntry } from '../ledger/graphql.ts'
import { Merchant } from '../merchants/graphql.ts'
import { NetworkEnum } from '../networks/graphql.ts'
import { Check, PayoutMethod } from '../payout-methods/graphql.ts'
import { computeFeeSums, feeSources } from '../pricing/fees.ts'
import { Wallet } from '../wallets/graphql.ts'
import { findPayoutEvents } from './find-payout-events.ts'
import { payouts } from './list.ts'
import type { PayoutEvent as PayoutEventRow, Payout as PayoutRow } from './payout.ts'
import { paymentPurposes, payoutReason, payoutStatuses } from './payout.ts'
import { checkPayoutAccount } from './payout-checks.ts'
import { settledStatuses } from './settle-payout.ts'

const PayoutStatusEnum = enumType('PayoutStatus', payoutStatuses, 'How far a payout has come.')

export const FeeSourceEnum = enumType('FeeSource', feeSources, 'What a fee is deducted from.')

export const SettledStatusEnum = enumType('SettledStatus', settledStatuses, 'What can become of a payout.')

export const PaymentPurposeEnum = enumType(
  'PaymentPurpose',
  paymentPurposes,
  'What a payout is for, as banks ask to know it.',
)

const PayoutEvent = objectType<PayoutEventRow>('PayoutEvent', {
  description: 'Something that became of a payout after it was made.',
  fields: {
    status: exposeColumn('status', 'What it became.', SettledStatusEnum),
    cause: exposeNullableColumn('cause', 'Why, in words of whoever reported it.'),
    transferId: exposeColumn('transferId', 'The ledger transfer that belongs to it.', 'UUID'),
    createdAt: exposeColumn('createdAt', 'When it became so.', 'DateTime'),
  },
})

export const Payout = nodeType<PayoutRow>('Payout', {
  description: 'A withdrawal from a stablecoin wallet to a bank account.',
  source: sourceOfList(payouts),
  fields: {
    uuid: exposeColumn('id', 'The id that the REST answers show.', 'UUID'),
    referenceId: exposeColumn('referenceId', 'A reference for the bank.', 'UUID'),
    status: exposeColumn('status', 'How far it has come.', PayoutStatusEnum),
    amount: exposeColumn('amount', 'The amount that was asked for.', 'Amount'),
    fee: exposeNullableColumn('fee', 'The fee; null where none was set.', 'Amount'),
    feeDeductedFrom: nullableComputedField(
      FeeSourceEnum,
      ['fee', 'feeDeductedFrom'],
      'What the fee was deducted from; null where none was set.',
      ({ fee, feeDeductedFrom }) => (fee === null ? null : (feeDeductedFrom ?? 'BALANCE')),
    ),
    netAmount: computedField(
      'Amount',
      ['amount', 'fee', 'feeDeductedFrom'],
      'The part of the amount that is converted: all of it, or less the fee where that was deducted from it.',
      (payout) => computeFeeSums(payout).netAmount,
    ),
    total: computedField(
      'Amount',
      ['amount', 'fee', 'feeDeductedFrom'],
      'What left the wallet: the amount, and the fee where that was deducted from the balance.',
      (payout) => computeFeeSums(payout).total,
    ),
    balance: exposeColumn('balanceAfter', "The paying wallet's, after amount and fee had left.", 'Amount'),
    exchangeRate: exposeColumn(
      'exchangeRate',
      'What one unit of the stablecoin is worth in the currency of the recipient.',
      'Decimal',
    ),
    amountFiat: exposeColumn(
      'amountFiat',
      'What the recipient gets, rounded down to what the currency can express.',
      'Decimal',
    ),
    ...exposeStrings({
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
    paymentPurpose: exposeColumnAs('paymentPurpose', 'What it is for.', PaymentPurposeEnum),
    reason: computedField('String', ['accountNumber', 'bankCode'], "The service's own words for it.", payoutReason),
    receiverWalletId: exposeNullableColumn(
      'receiverWalletId',
      'Null today. Reserved for the wallet that receives a payout to another wallet, once there are such.',
      'UUID',
    ),
    ...exposeNullableStrings({
      narration: 'What the recipient reads.',
      cryptoTransactionId:
        'Null today. Reserved for the transaction on the blockchain of a payout to a crypto address, once there are such.',
      address: 'Null today. Reserved for the address that `cryptoTransactionId` sends to.',
      fiatReferenceId: "The bank's own reference, once a rail has reported one.",
      // For everybody who may read the payout (ruling 119).
      idempotencyKey: 'The idempotency key that it was made with; null where it was made without one.',
    }),
    network: exposeColumnAs(
      'network',
      'Null today. Reserved for the blockchain network of `cryptoTransactionId`.',
      NetworkEnum,
      { isNullable: true },
    ),
    checks: computedField(
      [Check],
      ['recipientCurrency', 'accountNumber', 'bankCode'],
      'What the checks of the account number find; a payout is made even where one fails.',
      checkPayoutAccount,
    ),
    wallet: relationField(Wallet, 'walletId', 'The wallet that paid.'),
    customer: relationField(
      Customer,
      'customerId',
      'The customer whose wallet paid; null when it was the merchant’s own.',
    ),
    recipientMethod: relationField(
      PayoutMethod,
      'payoutMethodId',
      'The method that it was made to, if one was named and is still there. It may have changed since.',
    ),
    events: relatedListField(
      PayoutEvent,
      sourceByForeignKey(findPayoutEvents, ({ payoutId }) => payoutId),
      'What became of it, oldest first; two at most.',
    ),
    createdAt: exposeColumn('createdAt', 'When it was made.', 'DateTime'),
    updatedAt: exposeColumn('updatedAt', 'When its status last changed.', 'DateTime'),
  },
})

addField(
  LedgerEntry,
  'payout',
  relationField(Payout, 'payoutId', 'The payout that moved the money; null for a deposit.'),
)

const OwnedPayoutFilter = filterType('OwnedPayoutFilter', payouts, {
  which: 'Which payouts of an owner or a wallet',
  known: ['owner', 'walletId'],
})

addConnection('payouts', payouts, {
  of: Payout,
  items: 'payouts',
  places: [
    {
      summary: 'The payouts of the merchant and of its customers',
      filter: filterType('PayoutFilter', payouts, { which: 'Which payouts' }),
    },
    {
      on: Merchant,
      owner: 'merchant',
      summary: "The payouts from the merchant's own wallets",
      filter: OwnedPayoutFilter,
    },
    { on: Customer, parent: 'customer', summary: 'The payouts from its wallets', filter: OwnedPayoutFilter },
    { on: Wallet, parent: 'wallet', summary: 'The payouts that it paid', filter: OwnedPayoutFilter },
  ],
})
