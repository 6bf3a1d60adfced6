import { invalidInput } from '../../core/errors.ts'
import { hasValue } from '../../core/input.ts'
import { enumType } from '../../graphql/schema/enums.ts'
import { addQuery, exposeColumn, exposeNullableColumn, exposeNullableStrings, exposeRowAs, exposeStrings, objectType, queryField } from '../../graphql/schema/fields.ts'
import type { InputOf } from '../../graphql/schema/inputs.ts'
import { inputType, mapValues, optional, optionalId, required, requiredTexts } from '../../graphql/schema/inputs.ts'
import { addMutation, catchUserError, resultType } from '../../graphql/schema/mutation.ts'
import { BankCountryEnum, BankPayoutMethod, Check } from '../payout-methods/graphql.ts'
import { Wallet } from '../wallets/graphql.ts'
import { createPayout } from './create-payout.ts'
import type { PayoutQuote as PayoutQuoteRow } from './get-payout-quote.ts'
import { getPayoutQuote } from './get-payout-quote.ts'
import { FeeSourceEnum, PaymentPurposeEnum, Payout } from './graphql.ts'
import { payoutAssetCodes, recipientCurrencies, transferTypes } from './payout.ts'

const PayoutAssetEnum = enumType('PayoutAsset', payoutAssetCodes, 'A stablecoin that payouts are made from.')

const RecipientCurrencyEnum = enumType('RecipientCurrency', recipientCurrencies, 'A currency that payouts arrive in.')

const TransferTypeEnum = enumType(
  'TransferType',
  transferTypes,
  'An international way of paying that a caller may ask for.',
)

const BankAccountInput = inputType('BankAccountInput', 'A bank account, in full.', {
  ...requiredTexts({
    accountNumber: 'The number of the account.',
    bankName: 'What the bank is called.',
    bankCode: 'The code of the bank in its country.',
  }),
  accountName: optional(
    'Who holds the account, as `payoutMethodRequirements` calls it. It is required, by this name or the older one.',
  ),
  recipientName: {
    ...optional('Who holds the account, by its older name.'),
    deprecationReason: 'Use `accountName`, as `payoutMethodRequirements` and the payout methods have it.',
  },
  recipientCurrency: required('The currency that arrives.', RecipientCurrencyEnum),
  recipientCountry: required('The country of the bank.', BankCountryEnum),
})

const recipientInputFields = {
  bankAccount: optional('A bank account, in full.', BankAccountInput),
  payoutMethodId: optionalId('PayoutMethod', 'A bank account that is registered: its global id, or its UUID.'),
}

const PayoutRecipientInput = inputType(
  'PayoutRecipientInput',
  'Whom to pay. Exactly one of the two.',
  recipientInputFields,
  {
    isOneOf: true,
  },
)

const QuoteRecipientInput = inputType(
  'QuoteRecipientInput',
  'Whom to quote for. Exactly one of the three.',
  {
    ...recipientInputFields,
    currency: optional('Nobody yet: only the currency that would arrive.', RecipientCurrencyEnum),
  },
  { isOneOf: true },
)

/** What a payout is made of and what a quote is asked for, of a wallet that `pays`. */
const payoutTermFields = (pays: string) => ({
  customerId: optionalId(
    'Customer',
    `The customer whose wallet ${pays}; absent for the merchant's own. Global id, or UUID.`,
  ),
  walletId: optionalId(
    'Wallet',
    `The wallet that ${pays}; absent for the oldest of the owner that covers it. Global id, or UUID.`,
  ),
  assetCode: required('The stablecoin to pay from.', PayoutAssetEnum),
  amount: required(
    'What to pay out. A fee is deducted from it or from the balance of the wallet, as the fee was set; a quote shows which.',
    'Amount',
  ),
  transferType: optional(
    'For payouts in USD: money to Nigeria and South Africa takes the local rail whatever it says.',
    TransferTypeEnum,
  ),
})

const PayoutQuoteInput = inputType('PayoutQuoteInput', 'A payout to think about.', {
  ...payoutTermFields('would pay'),
  recipient: required('Whom to pay, or in which currency.', QuoteRecipientInput),
})

type RecipientInput = Partial<InputOf<typeof QuoteRecipientInput.declared>>

/** The flat input of the operation, from one that says in one of several ways whom to pay. */
function flattenInput<Given extends { readonly recipient: RecipientInput }>({ recipient, ...given }: Given) {
  const { bankAccount, payoutMethodId, currency } = recipient
  // The operation would take it for a recipient that is given in full, and ask for fields that have no place here.
  if (payoutMethodId?.trim() === '') {
    throw invalidInput([{ field: 'payoutMethodId', code: 'MISSING_REQUIRED_FIELD', message: 'must not be empty' }])
  }
  const { accountName, recipientName, ...account } = { accountName: null, recipientName: null, ...bankAccount }
  if (hasValue(accountName) && hasValue(recipientName)) {
    const message = 'must be absent where recipientName, its older name, is given'
    throw invalidInput([{ field: 'accountName', code: 'INVALID_PARAMETER', message }])
  }
  return {
    ...given,
    payoutMethodId,
    ...(bankAccount && { ...account, recipientName: hasValue(accountName) ? accountName : recipientName }),
    ...(currency && { recipientCurrency: currency }),
  }
}

/** Where the operation's own fields stand below `input`. */
function inputFieldPaths({ recipient: { bankAccount } }: { readonly recipient: RecipientInput }) {
  const isNamedAsOfOld = typeof bankAccount?.recipientName === 'string' && !hasValue(bankAccount.accountName)
  const inAccount = mapValues(BankAccountInput.declared, (_, name) => `recipient.bankAccount.${name}`)
  return {
    ...inAccount,
    ...(!isNamedAsOfOld && { recipientName: inAccount.accountName }),
    payoutMethodId: 'recipient.payoutMethodId',
  }
}

addMutation(createPayout, {
  description: 'Pays out from a stablecoin wallet to a bank account.',
  inputDescription: 'A payout to make.',
  isIdempotencyKeyRequired: true,
  input: {
    ...payoutTermFields('pays'),
    recipient: required('Whom to pay.', PayoutRecipientInput),
    // Optional at both doors: what is left out means the same at each (ruling 40).
    paymentPurpose: optional('What it is for; `OTHER` when it is left out.', PaymentPurposeEnum),
    narration: optional('What the recipient shall read.'),
  },
  inputOf: flattenInput,
  names: inputFieldPaths,
  payload: { payout: exposeRowAs(Payout, 'The new payout.') },
})

const PayoutQuote = objectType<PayoutQuoteRow>('PayoutQuote', {
  description:
    'What a payout would cost and bring if it were made now. Nothing is kept: a moment later it may be another.',
  fields: {
    ...exposeStrings({
      assetCode: 'The stablecoin that would pay.',
      recipientCurrency: 'The code of the currency that would arrive.',
      recipientCountry: 'The country of the bank.',
      transferType: 'What the payout would answer: what is asked for, or `ach`.',
    }),
    ...exposeNullableStrings({ recipientName: 'Who would get it; null where nobody is named.' }),
    amount: exposeColumn('amount', 'The amount that was asked for.', 'Amount'),
    fee: exposeNullableColumn('fee', 'The fee; null where none is set.', 'Amount'),
    feeDeductedFrom: exposeNullableColumn(
      'feeDeductedFrom',
      'What the fee would be deducted from; null where none is set.',
      FeeSourceEnum,
    ),
    netAmount: exposeColumn(
      'netAmount',
      'The part of the amount that would be converted: all of it, or less the fee where that is deducted from it.',
      'Amount',
    ),
    total: exposeColumn(
      'total',
      'What would leave the wallet: the amount, and the fee where that is deducted from the balance.',
      'Amount',
    ),
    exchangeRate: exposeColumn('exchangeRate', 'The rate in force.', 'Decimal'),
    amountFiat: exposeColumn('amountFiat', 'What the recipient would get.', 'Decimal'),
    wallet: exposeColumn('wallet', 'The wallet that would pay, as it is now.', Wallet),
    balanceAfter: exposeColumn('balanceAfter', 'What the paying wallet would hold after it.', 'Amount'),
    payoutMethod: exposeNullableColumn(
      'payoutMethod',
      'The method that the recipient is taken from, where one is named.',
      BankPayoutMethod,
    ),
    warnings: exposeColumn(
      'warnings',
      "The failed checks of the recipient's account. None of them refuses a payout: have somebody look.",
      [Check],
    ),
    quotedAt: exposeColumn('quotedAt', 'When this was so.', 'DateTime'),
  },
})

const quoteErrorCodes = ['INVALID_INPUT', ...createPayout.declaration.errors] as const

addQuery(
  'payoutQuote',
  queryField(
    resultType('PayoutQuote', PayoutQuote, quoteErrorCodes),
    'What `createPayout` would do now with the same input: the same figures, or the same refusal. It writes nothing.',
    { input: required('The payout to think about.', PayoutQuoteInput) },
    (context, { input }) =>
      catchUserError({ errors: quoteErrorCodes, names: () => inputFieldPaths(input), context }, async () =>
        getPayoutQuote(context, flattenInput(input)),
      ),
  ),
)
