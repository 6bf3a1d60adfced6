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
import { checkPayoutAccount } from './find-recipient.ts'
import { payouts } from './list.ts'
import type { PayoutEvent as PayoutEventRow, Payout as PayoutRow } from './payout.ts'
import { paymentPurposes, payoutDescriptions, payoutReason, payoutStatuses } from './payout.ts'
import { findPayoutEvents } from './payout-timeline.ts'
import { settledStatuses } from './settle-payout.ts'

const PayoutStatusEnum = enumType('PayoutStatus', payoutStatuses, 'The status of a payout.')

export const FeeSourceEnum = enumType('FeeSource', feeSources, 'The source of a fee.')

export const SettledStatusEnum = enumType('SettledStatus', settledStatuses, 'A status that settles a payout.')

export const PaymentPurposeEnum = enumType(
  'PaymentPurpose',
  paymentPurposes,
  'The purpose of a payout, which banks require.',
)

const PayoutEvent = objectType<PayoutEventRow>('PayoutEvent', {
  description: 'A settlement of a payout.',
  fields: {
    status: exposeColumn('status', 'The new status.', SettledStatusEnum),
    cause: exposeNullableColumn('cause', 'The reason, as reported.'),
    transferId: exposeColumn('transferId', 'The ledger transfer of the settlement.', 'UUID'),
    createdAt: exposeColumn('createdAt', 'When the payout was settled.', 'DateTime'),
  },
})

export const Payout = nodeType<PayoutRow>('Payout', {
  description: 'A withdrawal from a stablecoin wallet to a bank account.',
  source: sourceOfList(payouts),
  fields: {
    uuid: exposeColumn('id', 'The id that the REST API uses.', 'UUID'),
    referenceId: exposeColumn('referenceId', payoutDescriptions.referenceId, 'UUID'),
    status: exposeColumn('status', payoutDescriptions.status, PayoutStatusEnum),
    amount: exposeColumn('amount', payoutDescriptions.amount, 'Amount'),
    fee: exposeNullableColumn('fee', 'The fee; null if no fee was set.', 'Amount'),
    feeDeductedFrom: nullableComputedField(
      FeeSourceEnum,
      ['fee', 'feeDeductedFrom'],
      'The source of the fee; null if no fee was set.',
      ({ fee, feeDeductedFrom }) => (fee === null ? null : (feeDeductedFrom ?? 'BALANCE')),
    ),
    netAmount: computedField(
      'Amount',
      ['amount', 'fee', 'feeDeductedFrom'],
      'The part of the amount that is converted: the amount, less a fee that was deducted from it.',
      (payout) => computeFeeSums(payout).netAmount,
    ),
    total: computedField(
      'Amount',
      ['amount', 'fee', 'feeDeductedFrom'],
      'The debit of the wallet: the amount, plus a fee that was deducted from the balance.',
      (payout) => computeFeeSums(payout).total,
    ),
    balance: exposeColumn('balanceAfter', payoutDescriptions.balance, 'Amount'),
    exchangeRate: exposeColumn('exchangeRate', payoutDescriptions.exchangeRate, 'Decimal'),
    amountFiat: exposeColumn(
      'amountFiat',
      'The amount that the recipient gets, rounded down to the minor unit of the currency.',
      'Decimal',
    ),
    ...exposeStrings({
      transactionId: payoutDescriptions.transactionId,
      assetCode: payoutDescriptions.assetCode,
      recipientName: payoutDescriptions.recipientName,
      recipientCurrency: payoutDescriptions.recipientCurrency,
      recipientCountry: payoutDescriptions.recipientCountry,
      bankName: payoutDescriptions.bankName,
      bankCode: payoutDescriptions.bankCode,
      accountNumber: payoutDescriptions.accountNumber,
      transferType: payoutDescriptions.transferType,
    }),
    paymentPurpose: exposeColumnAs('paymentPurpose', payoutDescriptions.paymentPurpose, PaymentPurposeEnum),
    reason: computedField('String', ['accountNumber', 'bankCode'], payoutDescriptions.reason, payoutReason),
    receiverWalletId: exposeNullableColumn(
      'receiverWalletId',
      'Null today. Reserved for the wallet that receives a payout to another wallet.',
      'UUID',
    ),
    ...exposeNullableStrings({
      narration: payoutDescriptions.narration,
      cryptoTransactionId: 'Null today. Reserved for the blockchain transaction of a payout to a crypto address.',
      address: 'Null today. Reserved for the recipient address of `cryptoTransactionId`.',
      fiatReferenceId: 'The bank’s reference, once a rail has reported one.',
      // The idempotency key is visible to every credential that can read the payout (ruling 119).
      idempotencyKey: 'The idempotency key of its request; null if the request had none.',
    }),
    network: exposeColumnAs('network', 'Null today. Reserved for the network of `cryptoTransactionId`.', NetworkEnum, {
      isNullable: true,
    }),
    checks: computedField(
      [Check],
      ['recipientCurrency', 'accountNumber', 'bankCode'],
      'The results of the checks of the account number. A failed check does not stop a payout.',
      checkPayoutAccount,
    ),
    wallet: relationField(Wallet, 'walletId', payoutDescriptions.wallet),
    customer: relationField(Customer, 'customerId', payoutDescriptions.customer),
    recipientMethod: relationField(
      PayoutMethod,
      'payoutMethodId',
      'The payout method in the request, in its current form; null if there was none or it is deleted.',
    ),
    events: relatedListField(
      PayoutEvent,
      sourceByForeignKey(findPayoutEvents, ({ payoutId }) => payoutId),
      'The settlements, oldest first, at most two.',
    ),
    createdAt: exposeColumn('createdAt', payoutDescriptions.createdAt, 'DateTime'),
    updatedAt: exposeColumn('updatedAt', payoutDescriptions.updatedAt, 'DateTime'),
  },
})

addField(
  LedgerEntry,
  'payout',
  relationField(Payout, 'payoutId', 'The payout that moved the money; null for a deposit or its reversal.'),
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
    {
      on: Customer,
      parent: 'customer',
      summary: 'The payouts from wallets of this customer',
      filter: OwnedPayoutFilter,
    },
    { on: Wallet, parent: 'wallet', summary: 'The payouts from this wallet', filter: OwnedPayoutFilter },
  ],
})
