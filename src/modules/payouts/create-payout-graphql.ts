import { invalidInput } from '../../core/errors.ts'
import { hasValue } from '../../core/input.ts'
import { enumType } from '../../graphql/schema/enums.ts'
import {
  addQuery,
  exposeColumn,
  exposeNullableColumn,
  exposeNullableStrings,
  exposeRowAs,
  exposeStrings,
  objectType,
  queryField,
} from '../../graphql/schema/fields.ts'
import type { InputOf } from '../../graphql/schema/inputs.ts'
import { inputType, mapValues, optional, optionalId, required, requiredTexts } from '../../graphql/schema/inputs.ts'
import { addMutation, catchUserError, resultType } from '../../graphql/schema/mutation.ts'
import { BankCountryEnum, BankPayoutMethod, Check } from '../payout-methods/graphql.ts'
import { Wallet } from '../wallets/graphql.ts'
import { createPayout } from './create-payout.ts'
import type { PayoutQuote as PayoutQuoteRow } from './get-payout-quote.ts'
import { getPayoutQuote } from './get-payout-quote.ts'
import { FeeSourceEnum, PaymentPurposeEnum, Payout } from './graphql.ts'
import { payoutAssetCodes, payoutDescriptions, recipientCurrencies, transferTypes } from './payout.ts'

const PayoutAssetEnum = enumType('PayoutAsset', payoutAssetCodes, 'A stablecoin to pay from.')

const RecipientCurrencyEnum = enumType('RecipientCurrency', recipientCurrencies, 'A currency to pay out in.')

const TransferTypeEnum = enumType('TransferType', transferTypes, 'An international transfer type.')

const BankAccountInput = inputType('BankAccountInput', 'A bank account.', {
  ...requiredTexts({
    accountNumber: payoutDescriptions.accountNumber,
    bankName: payoutDescriptions.bankName,
    bankCode: payoutDescriptions.bankCode,
  }),
  accountName: optional('The name of the account holder. Required, unless the deprecated `recipientName` is given.'),
  recipientName: {
    ...optional('The name of the account holder.'),
    deprecationReason: 'Use `accountName`, as `payoutMethodRequirements` and the payout methods have it.',
  },
  recipientCurrency: required(payoutDescriptions.recipientCurrency, RecipientCurrencyEnum),
  recipientCountry: required(payoutDescriptions.recipientCountry, BankCountryEnum),
})

const recipientInputFields = {
  bankAccount: optional('A bank account.', BankAccountInput),
  payoutMethodId: optionalId('PayoutMethod', 'A registered bank account: its global id or UUID.'),
}

const PayoutRecipientInput = inputType(
  'PayoutRecipientInput',
  'The recipient: exactly one of the fields.',
  recipientInputFields,
  {
    isOneOf: true,
  },
)

const QuoteRecipientInput = inputType(
  'QuoteRecipientInput',
  'The recipient, or only the currency: exactly one of the fields.',
  {
    ...recipientInputFields,
    currency: optional(
      'The currency that the recipient would get, if there is no recipient yet.',
      RecipientCurrencyEnum,
    ),
  },
  { isOneOf: true },
)

const payoutTermFields = (verb: string) => ({
  customerId: optionalId(
    'Customer',
    `The customer whose wallet ${verb}, by global id or UUID; absent for the merchant's own.`,
  ),
  walletId: optionalId(
    'Wallet',
    `The wallet that ${verb}, by global id or UUID; absent for the owner's oldest with sufficient funds.`,
  ),
  assetCode: required(payoutDescriptions.assetCode, PayoutAssetEnum),
  amount: required(
    'The amount to pay out. A fee is deducted from it or from the balance of the wallet; a quote shows which.',
    'Amount',
  ),
  transferType: optional(payoutDescriptions.transferTypeInput, TransferTypeEnum),
})

const PayoutQuoteInput = inputType('PayoutQuoteInput', 'A payout to quote.', {
  ...payoutTermFields('would pay'),
  recipient: required('The recipient, or the currency.', QuoteRecipientInput),
})

type RecipientInput = Partial<InputOf<typeof QuoteRecipientInput.declared>>

function flattenInput<Input extends { readonly recipient: RecipientInput }>({ recipient, ...terms }: Input) {
  const { bankAccount, payoutMethodId, currency } = recipient
  // The operation would treat an empty `payoutMethodId` as absent, and would report bank account fields that this
  // GraphQL input does not have.
  if (payoutMethodId?.trim() === '') {
    throw invalidInput([{ field: 'payoutMethodId', code: 'MISSING_REQUIRED_FIELD', message: 'must not be empty' }])
  }
  const { accountName, recipientName, ...account } = { accountName: null, recipientName: null, ...bankAccount }
  if (hasValue(accountName) && hasValue(recipientName)) {
    const message = 'must be absent if the deprecated recipientName is given'
    throw invalidInput([{ field: 'accountName', code: 'INVALID_PARAMETER', message }])
  }
  return {
    ...terms,
    payoutMethodId,
    ...(bankAccount && { ...account, recipientName: hasValue(accountName) ? accountName : recipientName }),
    ...(currency && { recipientCurrency: currency }),
  }
}

function inputFieldPaths({ recipient: { bankAccount } }: { readonly recipient: RecipientInput }) {
  const hasDeprecatedName = typeof bankAccount?.recipientName === 'string' && !hasValue(bankAccount.accountName)
  const inAccount = mapValues(BankAccountInput.declared, (_, name) => `recipient.bankAccount.${name}`)
  return {
    ...inAccount,
    ...(!hasDeprecatedName && { recipientName: inAccount.accountName }),
    payoutMethodId: 'recipient.payoutMethodId',
  }
}

addMutation(createPayout, {
  description: 'Pays out from a stablecoin wallet to a bank account.',
  inputDescription: 'The payout to create.',
  isIdempotencyKeyRequired: true,
  input: {
    ...payoutTermFields('pays'),
    recipient: required('The recipient of the payout.', PayoutRecipientInput),
    paymentPurpose: optional(payoutDescriptions.paymentPurposeInput, PaymentPurposeEnum),
    narration: optional(payoutDescriptions.narration),
  },
  inputOf: flattenInput,
  names: inputFieldPaths,
  payload: { payout: exposeRowAs(Payout, 'The new payout.') },
})

const PayoutQuote = objectType<PayoutQuoteRow>('PayoutQuote', {
  description:
    'The price of a payout at present. A quote is not stored and guarantees nothing: rates, fees and balances may change.',
  fields: {
    ...exposeStrings({
      assetCode: payoutDescriptions.assetCode,
      recipientCurrency: payoutDescriptions.recipientCurrency,
      recipientCountry: payoutDescriptions.recipientCountry,
      transferType: 'The `transferType` of the payout: the requested one, or `ach`.',
    }),
    ...exposeNullableStrings({ recipientName: 'The name of the recipient; null if there is no recipient.' }),
    amount: exposeColumn('amount', payoutDescriptions.amount, 'Amount'),
    fee: exposeNullableColumn('fee', 'The fee; null if no fee is set.', 'Amount'),
    feeDeductedFrom: exposeNullableColumn(
      'feeDeductedFrom',
      'The source of the fee; null if no fee is set.',
      FeeSourceEnum,
    ),
    netAmount: exposeColumn(
      'netAmount',
      'The part of the amount that would be converted: the amount, less a fee that is deducted from it.',
      'Amount',
    ),
    total: exposeColumn(
      'total',
      'The debit of the wallet: the amount, plus a fee that is deducted from the balance.',
      'Amount',
    ),
    exchangeRate: exposeColumn('exchangeRate', payoutDescriptions.exchangeRate, 'Decimal'),
    amountFiat: exposeColumn('amountFiat', 'The amount that the recipient would get.', 'Decimal'),
    wallet: exposeColumn('wallet', 'The wallet that would pay.', Wallet),
    balanceAfter: exposeColumn('balanceAfter', 'The balance of the paying wallet after the payout.', 'Amount'),
    payoutMethod: exposeNullableColumn(
      'payoutMethod',
      'The payout method of the input; null if there is none.',
      BankPayoutMethod,
    ),
    warnings: exposeColumn(
      'warnings',
      "The failed checks of the recipient's account. They do not stop the payout: ask a person to verify it.",
      [Check],
    ),
    quotedAt: exposeColumn('quotedAt', 'When the quote was computed.', 'DateTime'),
  },
})

const quoteErrorCodes = ['INVALID_INPUT', ...createPayout.declaration.errors] as const

addQuery(
  'payoutQuote',
  queryField(
    resultType('PayoutQuote', PayoutQuote, quoteErrorCodes),
    'The result that `createPayout` would have at present: the same figures or the same error. Changes nothing.',
    { input: required('The payout to quote.', PayoutQuoteInput) },
    (context, { input }) =>
      catchUserError({ errors: quoteErrorCodes, names: () => inputFieldPaths(input), context }, async () =>
        getPayoutQuote(context, flattenInput(input)),
      ),
  ),
)
