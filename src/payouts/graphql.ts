import type { ArgBuilder } from '@pothos/core'
import { Customer, customerLoader } from '../customers/graphql.ts'
import type { Names } from '../doors/refusal-text.ts'
import { invalidInput, Refusal } from '../errors.ts'
import type { Types } from '../graphql/builder.ts'
import { builder } from '../graphql/builder.ts'
import { connectionType, related } from '../graphql/connection.ts'
import { valuesEnum } from '../graphql/enums.ts'
import { localId, localIdOfAny, localIdOrNull } from '../graphql/global-ids.ts'
import type { GraphqlContext } from '../graphql/graphql-context.ts'
import { filterType, listing, listingOfEach } from '../graphql/list-fields.ts'
import { loaderById, loaderOfMany } from '../graphql/loader.ts'
import { addMutation, asGiven, idempotencyKeyDescription, orUserError, resultType } from '../graphql/mutation.ts'
import { addNodeType, idDescription, Node, nodeId } from '../graphql/node.ts'
import { LedgerEntry } from '../ledger/graphql.ts'
import { Merchant } from '../merchants/graphql.ts'
import { NetworkEnum } from '../networks/graphql.ts'
import {
  BankCountryEnum,
  BankPayoutMethod,
  Check,
  PayoutMethod,
  payoutMethodLoader,
  payoutMethodTypeNames,
} from '../payout-methods/graphql.ts'
import { Wallet, walletLoader } from '../wallets/graphql.ts'
import { createPayout } from './create-payout.ts'
import { findPayoutEvents } from './find-payout-events.ts'
import { getNamedPayout } from './get-payout.ts'
import type { PayoutQuote as PayoutQuoteRow } from './get-payout-quote.ts'
import { getPayoutQuote } from './get-payout-quote.ts'
import { payouts } from './list.ts'
import type { PayoutEvent as PayoutEventRow, Payout as PayoutRow } from './payout.ts'
import {
  paymentPurposes,
  payoutAssetCodes,
  payoutReason,
  payoutStatuses,
  recipientCurrencies,
  transferTypes,
} from './payout.ts'
import { payoutChecks } from './payout-checks.ts'
import { isGiven } from './payout-input.ts'
import { settledStatuses } from './settle-payout.ts'
import { simulatePayout } from './simulate-payout.ts'
import { mostWatched, watchPayouts } from './watch-payouts.ts'

export const PayoutStatusEnum = valuesEnum('PayoutStatus', payoutStatuses, 'How far a payout has come.')

const SettledStatusEnum = valuesEnum('SettledStatus', settledStatuses, 'What can become of a payout.')

const PayoutAssetEnum = valuesEnum('PayoutAsset', payoutAssetCodes, 'A stablecoin that payouts are made from.')

const RecipientCurrencyEnum = valuesEnum('RecipientCurrency', recipientCurrencies, 'A currency that payouts arrive in.')

const TransferTypeEnum = valuesEnum(
  'TransferType',
  transferTypes,
  'An international way of paying that a caller may ask for.',
)

const PaymentPurposeEnum = valuesEnum(
  'PaymentPurpose',
  paymentPurposes,
  'What a payout is for, as banks ask to know it.',
)

const PayoutEvent = builder.objectRef<PayoutEventRow>('PayoutEvent').implement({
  description: 'Something that became of a payout after it was made.',
  fields: (t) => ({
    status: t.expose('status', { type: SettledStatusEnum, description: 'What it became.' }),
    cause: t.exposeString('cause', { nullable: true, description: 'Why, in words of whoever reported it.' }),
    transferId: t.expose('transferId', { type: 'UUID', description: 'The ledger transfer that belongs to it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it became so.' }),
  }),
})

/** Payouts of one request, by id. */
export const payoutLoader = loaderById<PayoutRow>(payouts.find)

const eventsLoader = loaderOfMany<PayoutEventRow>(findPayoutEvents, ({ payoutId }) => payoutId)

export const Payout = builder.objectRef<PayoutRow>('Payout').implement({
  description: 'A withdrawal from a stablecoin wallet to a bank account.',
  extensions: { table: 'payouts' },
  interfaces: [Node],
  fields: (t) => ({
    id: t.field(nodeId('Payout', ({ id }) => id)),
    uuid: t.expose('id', { type: 'UUID', description: 'The id that the REST answers show.' }),
    transactionId: t.exposeString('transactionId', {
      description: 'Ten capital letters and digits that name it to people; twelve in the oldest payouts.',
    }),
    referenceId: t.expose('referenceId', { type: 'UUID', description: 'A reference for the bank.' }),
    status: t.expose('status', { type: PayoutStatusEnum, description: 'How far it has come.' }),
    assetCode: t.exposeString('assetCode', { description: 'The stablecoin that it is made from.' }),
    amount: t.expose('amount', { type: 'Amount', description: 'What is paid out, without the fee.' }),
    fee: t.expose('fee', {
      type: 'Amount',
      nullable: true,
      description: 'What the wallet paid on top; null where no fee was set.',
    }),
    balance: t.expose('balanceAfter', {
      type: 'Amount',
      description: "The paying wallet's, after amount and fee had left.",
    }),
    exchangeRate: t.expose('exchangeRate', {
      type: 'Decimal',
      description: 'What one unit of the stablecoin is worth in the currency of the recipient.',
    }),
    amountFiat: t.expose('amountFiat', {
      type: 'Decimal',
      description: 'What the recipient gets, rounded down to what the currency can express.',
    }),
    recipientName: t.exposeString('recipientName', { description: 'Who gets it.' }),
    recipientCurrency: t.exposeString('recipientCurrency', { description: 'The code of the currency that arrives.' }),
    recipientCountry: t.exposeString('recipientCountry', { description: 'The country of the bank.' }),
    bankName: t.exposeString('bankName', { description: 'What the bank is called.' }),
    bankCode: t.exposeString('bankCode', { description: 'The code of the bank in its country.' }),
    accountNumber: t.exposeString('accountNumber', { description: 'The number of the account.' }),
    paymentPurpose: t.field({
      type: PaymentPurposeEnum,
      description: 'What it is for.',
      extensions: { columns: ['paymentPurpose'] },
      resolve: ({ paymentPurpose }) => paymentPurpose as (typeof paymentPurposes)[number],
    }),
    reason: t.string({
      description: "The service's own words for it.",
      extensions: { columns: ['accountNumber', 'bankCode'] },
      resolve: payoutReason,
    }),
    narration: t.exposeString('narration', { nullable: true, description: 'What the recipient reads.' }),
    transferType: t.exposeString('transferType', {
      description: 'The way that the money takes: `nip` in Nigeria, `eft` in South Africa, or the one asked for.',
    }),
    receiverWalletId: t.expose('receiverWalletId', {
      type: 'UUID',
      nullable: true,
      description: 'Null today. Reserved for the wallet that receives a payout to another wallet, once there are such.',
    }),
    cryptoTransactionId: t.exposeString('cryptoTransactionId', {
      nullable: true,
      description:
        'Null today. Reserved for the transaction on the blockchain of a payout to a crypto address, once there are such.',
    }),
    network: t.field({
      type: NetworkEnum,
      nullable: true,
      description: 'Null today. Reserved for the blockchain network of `cryptoTransactionId`.',
      extensions: { columns: ['network'] },
      resolve: ({ network }) => network as typeof NetworkEnum.$inferType | null,
    }),
    address: t.exposeString('address', {
      nullable: true,
      description: 'Null today. Reserved for the address that `cryptoTransactionId` sends to.',
    }),
    fiatReferenceId: t.exposeString('fiatReferenceId', {
      nullable: true,
      description: "Null today. Reserved for the bank's own reference, once banks report one.",
    }),
    checks: t.field({
      type: [Check],
      description: 'What the checks of the account number find; a payout is made even where one fails.',
      resolve: payoutChecks,
    }),
    wallet: t.field({
      type: Wallet,
      nullable: true,
      description: 'The wallet that paid.',
      ...related(walletLoader, 'walletId'),
    }),
    customer: t.field({
      type: Customer,
      nullable: true,
      description: 'The customer whose wallet paid; null when it was the merchant’s own.',
      ...related(customerLoader, 'customerId'),
    }),
    recipientMethod: t.field({
      type: PayoutMethod,
      nullable: true,
      description: 'The method that it was made to, if one was named and is still there. It may have changed since.',
      ...related(payoutMethodLoader, 'payoutMethodId'),
    }),
    events: t.field({
      type: [PayoutEvent],
      description: 'What became of it, oldest first; two at most.',
      ...related(eventsLoader, 'id'),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its status last changed.' }),
  }),
})

addNodeType('Payout', payoutLoader)

const PayoutConnection = connectionType<PayoutRow>('Payout', Payout, 'payouts')

const PayoutFilter = filterType('PayoutFilter', payouts, {
  description: 'Which payouts: those that every field here lets through.',
})

const OwnedPayoutFilter = filterType('OwnedPayoutFilter', payouts, {
  description: 'Which payouts of an owner or a wallet: those that every field here lets through.',
  known: ['owner', 'walletId'],
})

const filterDescription = 'Which payouts to list; all without it.'

/** How an argument list names one payout; the operation refuses both at once, and neither. */
function payoutNameArguments(arg: ArgBuilder<Types>) {
  return {
    id: arg.id({ description: idDescription('payout') }),
    idempotencyKey: arg.string({ description: `In the place of the id: ${payoutKeyDescription}` }),
  }
}

const payoutKeyDescription = 'the idempotency key that it was made with, at either door.'

type PayoutNameArguments = {
  readonly id?: string | null | undefined
  readonly idempotencyKey?: string | null | undefined
}

function payoutName({ id, idempotencyKey }: PayoutNameArguments) {
  return { payoutId: localId('Payout', id), payoutKey: idempotencyKey }
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined
}

function nullWhereNotFound(error: unknown): null {
  if (error instanceof Refusal && error.code === 'RESOURCE_NOT_FOUND') return null
  return refuseByArgument(error)
}

/** Names what is wrong with a payout's name as the arguments do. */
function refuseByArgument(error: unknown): never {
  if (!(error instanceof Refusal) || !error.details.fields) throw error
  const argumentOf: Names = { payoutId: 'id', payoutKey: 'idempotencyKey' }
  throw invalidInput(error.details.fields.map((fault) => ({ ...fault, field: argumentOf[fault.field] ?? fault.field })))
}

builder.queryFields((t) => ({
  payout: t.field({
    type: Payout,
    nullable: true,
    description:
      'One payout, by its id or by the idempotency key that it was made with; null when it does not exist or is not visible.',
    args: payoutNameArguments(t.arg),
    resolve: (_, { id, idempotencyKey }, context) => {
      if (isAbsent(id) || !isAbsent(idempotencyKey)) {
        return getNamedPayout(context, payoutName({ id, idempotencyKey })).catch(nullWhereNotFound)
      }
      const payoutId = localIdOrNull('Payout', id)
      return payoutId === null ? null : payoutLoader(context).load(payoutId)
    },
  }),
  payouts: t.field({
    type: PayoutConnection,
    description: 'The payouts of the merchant and of its customers, newest first.',
    ...listing(t, payouts, { filter: PayoutFilter, filterDescription }),
  }),
}))

builder.objectField(Merchant, 'payouts', (t) =>
  t.field({
    type: PayoutConnection,
    description: "The payouts from the merchant's own wallets, newest first.",
    ...listing(t, payouts, { filter: OwnedPayoutFilter, filterDescription, owner: 'merchant' }),
  }),
)

builder.objectField(Customer, 'payouts', (t) =>
  t.field({
    type: PayoutConnection,
    description: 'The payouts from its wallets, newest first.',
    ...listingOfEach(t, payouts, {
      filter: OwnedPayoutFilter,
      filterDescription,
      slices: payouts.slicesOf('customer'),
    }),
  }),
)

builder.objectField(Wallet, 'payouts', (t) =>
  t.field({
    type: PayoutConnection,
    description: 'The payouts that it paid, newest first.',
    ...listingOfEach(t, payouts, { filter: OwnedPayoutFilter, filterDescription, slices: payouts.slicesOf('wallet') }),
  }),
)

builder.objectField(LedgerEntry, 'payout', (t) =>
  t.field({
    type: Payout,
    nullable: true,
    description: 'The payout that moved the money; null for a deposit.',
    ...related(payoutLoader, 'payoutId'),
  }),
)

builder.subscriptionField('payoutChanged', (t) =>
  t.field({
    type: Payout,
    description: 'A payout as it is now, and again whenever its status changes, until nothing more can become of it.',
    args: payoutNameArguments(t.arg),
    subscribe: async (_, named, context, { getAbortSignal }) => {
      const { id } = await getNamedPayout(context, payoutName(named)).catch(refuseByArgument)
      return freshly(context, await watchPayouts(context, { payoutIds: [id] }, getAbortSignal()))
    },
    resolve: (payout) => payout,
  }),
)

builder.subscriptionField('payoutsChanged', (t) =>
  t.field({
    type: Payout,
    description: `One stream for many payouts: each whenever its status has changed, as it is then. Of \`ids\` each comes as it is now first, and the stream ends when nothing more can become of any; of a customer, or with neither of all that the merchant and its customers have, it tells what changes from now on and has no end. After a break, look at what you have missed: the stream begins anew.`,
    args: {
      ids: t.arg.idList({
        description: `Only these payouts, 1 to ${mostWatched}: global ids or UUIDs. Not together with \`customerId\`.`,
      }),
      customerId: t.arg.id({ description: "Only payouts from this customer's wallets: its global id, or its UUID." }),
    },
    subscribe: async (_, { ids, customerId }, context, { getAbortSignal }) => {
      const payoutIds = ids?.map((id) => localId('Payout', id))
      const watched = { payoutIds, customerId: localId('Customer', customerId) }
      return freshly(context, await watchPayouts(context, watched, getAbortSignal()))
    },
    resolve: (payout) => payout,
  }),
)

/** Forgets before each event what the one before has loaded. */
async function* freshly<Event>(context: GraphqlContext, events: AsyncIterable<Event>): AsyncGenerator<Event> {
  for await (const event of events) {
    context.loaders.clear()
    yield event
  }
}

const PayoutQuote = builder.objectRef<PayoutQuoteRow>('PayoutQuote').implement({
  description:
    'What a payout would cost and bring if it were made now. Nothing is kept: a moment later it may be another.',
  fields: (t) => ({
    assetCode: t.exposeString('assetCode', { description: 'The stablecoin that would pay.' }),
    amount: t.expose('amount', { type: 'Amount', description: 'What would be paid out, without the fee.' }),
    fee: t.expose('fee', {
      type: 'Amount',
      nullable: true,
      description: 'What comes on top; null where no fee is set.',
    }),
    total: t.expose('total', { type: 'Amount', description: 'What would leave the wallet: amount and fee.' }),
    exchangeRate: t.expose('exchangeRate', { type: 'Decimal', description: 'The rate in force.' }),
    amountFiat: t.expose('amountFiat', { type: 'Decimal', description: 'What the recipient would get.' }),
    recipientCurrency: t.exposeString('recipientCurrency', {
      description: 'The code of the currency that would arrive.',
    }),
    recipientCountry: t.exposeString('recipientCountry', { description: 'The country of the bank.' }),
    recipientName: t.exposeString('recipientName', {
      nullable: true,
      description: 'Who would get it; null where nobody is named.',
    }),
    transferType: t.exposeString('transferType', { description: 'The way that the money would take.' }),
    wallet: t.field({
      type: Wallet,
      description: 'The wallet that would pay, as it is now.',
      resolve: ({ wallet }) => wallet,
    }),
    balanceAfter: t.expose('balanceAfter', {
      type: 'Amount',
      description: 'What the paying wallet would hold after it.',
    }),
    payoutMethod: t.field({
      type: BankPayoutMethod,
      nullable: true,
      description: 'The method that the recipient is taken from, where one is named.',
      resolve: ({ payoutMethod }) => payoutMethod,
    }),
    warnings: t.field({
      type: [Check],
      description: "The failed checks of the recipient's account. None of them refuses a payout: have somebody look.",
      resolve: ({ warnings }) => warnings,
    }),
    quotedAt: t.expose('quotedAt', { type: 'DateTime', description: 'When this was so.' }),
  }),
})

const required = { required: true } as const

const BankAccountInput = builder.inputType('BankAccountInput', {
  description: 'A bank account, in full.',
  fields: (t) => ({
    accountNumber: t.string({ ...required, description: 'The number of the account.' }),
    bankName: t.string({ ...required, description: 'What the bank is called.' }),
    bankCode: t.string({ ...required, description: 'The code of the bank in its country.' }),
    accountName: t.string({
      description:
        'Who holds the account, as `payoutMethodRequirements` calls it. It is required, by this name or the older one.',
    }),
    recipientName: t.string({
      description: 'Who holds the account, by its older name.',
      deprecationReason: 'Use `accountName`, as `payoutMethodRequirements` and the payout methods have it.',
    }),
    recipientCurrency: t.field({ type: RecipientCurrencyEnum, ...required, description: 'The currency that arrives.' }),
    recipientCountry: t.field({ type: BankCountryEnum, ...required, description: 'The country of the bank.' }),
  }),
})

const PayoutRecipientInput = builder.inputType('PayoutRecipientInput', {
  description: 'Whom to pay. Exactly one of the two.',
  isOneOf: true,
  fields: (t) => ({
    bankAccount: t.field({ type: BankAccountInput, description: 'A bank account, in full.' }),
    payoutMethodId: t.id({ description: 'A bank account that is registered: its global id, or its UUID.' }),
  }),
})

const QuoteRecipientInput = builder.inputType('QuoteRecipientInput', {
  description: 'Whom to quote for. Exactly one of the three.',
  isOneOf: true,
  fields: (t) => ({
    bankAccount: t.field({ type: BankAccountInput, description: 'A bank account, in full.' }),
    payoutMethodId: t.id({ description: 'A bank account that is registered: its global id, or its UUID.' }),
    currency: t.field({ type: RecipientCurrencyEnum, description: 'Nobody yet: only the currency that would arrive.' }),
  }),
})

const CreatePayoutInput = builder.inputType('CreatePayoutInput', {
  description: 'A payout to make.',
  fields: (t) => ({
    customerId: t.id({
      description: "The customer whose wallet pays; absent for the merchant's own. Global id, or UUID.",
    }),
    walletId: t.id({
      description: 'The wallet that pays; absent for the oldest of the owner that covers it. Global id, or UUID.',
    }),
    assetCode: t.field({ type: PayoutAssetEnum, ...required, description: 'The stablecoin to pay from.' }),
    amount: t.field({ type: 'Amount', ...required, description: 'What to pay out; the fee comes on top.' }),
    recipient: t.field({ type: PayoutRecipientInput, ...required, description: 'Whom to pay.' }),
    // Optional at both doors: what is left out means the same at each (ruling 40).
    paymentPurpose: t.field({ type: PaymentPurposeEnum, description: 'What it is for; `OTHER` when it is left out.' }),
    narration: t.string({ description: 'What the recipient shall read.' }),
    transferType: t.field({ type: TransferTypeEnum, description: 'Another way than the usual one of the country.' }),
    idempotencyKey: t.string({ ...required, description: idempotencyKeyDescription }),
  }),
})

const PayoutQuoteInput = builder.inputType('PayoutQuoteInput', {
  description: 'A payout to think about.',
  fields: (t) => ({
    customerId: t.id({
      description: "The customer whose wallet would pay; absent for the merchant's own. Global id, or UUID.",
    }),
    walletId: t.id({
      description: 'The wallet that would pay; absent for the oldest of the owner that covers it. Global id, or UUID.',
    }),
    assetCode: t.field({ type: PayoutAssetEnum, ...required, description: 'The stablecoin to pay from.' }),
    amount: t.field({ type: 'Amount', ...required, description: 'What to pay out; the fee comes on top.' }),
    recipient: t.field({ type: QuoteRecipientInput, ...required, description: 'Whom to pay, or in which currency.' }),
    transferType: t.field({ type: TransferTypeEnum, description: 'Another way than the usual one of the country.' }),
  }),
})

/** Where the operation's own fields stand below `input`. */
function payoutNames({ recipient: { bankAccount } }: { recipient: Recipient }) {
  const isNamedAsOfOld = typeof bankAccount?.recipientName === 'string' && !isGiven(bankAccount.accountName)
  return {
    payoutMethodId: 'recipient.payoutMethodId',
    accountNumber: 'recipient.bankAccount.accountNumber',
    accountName: 'recipient.bankAccount.accountName',
    bankName: 'recipient.bankAccount.bankName',
    bankCode: 'recipient.bankAccount.bankCode',
    recipientName: `recipient.bankAccount.${isNamedAsOfOld ? 'recipientName' : 'accountName'}`,
    recipientCurrency: 'recipient.bankAccount.recipientCurrency',
    recipientCountry: 'recipient.bankAccount.recipientCountry',
  }
}

const payoutRefusals = [
  'INVALID_INPUT',
  'RESOURCE_NOT_FOUND',
  'CUSTOMER_CLOSED',
  'RATE_UNAVAILABLE',
  'WALLET_NOT_FOUND',
  'INSUFFICIENT_FUNDS',
] as const

const PayoutQuoteResult = resultType('PayoutQuote', {
  payload: PayoutQuote,
  payloadName: 'PayoutQuote',
  errors: payoutRefusals,
})

builder.queryField('payoutQuote', (t) =>
  t.field({
    type: PayoutQuoteResult,
    description:
      'What `createPayout` would do now with the same input: the same figures, or the same refusal. It writes nothing.',
    args: { input: t.arg({ type: PayoutQuoteInput, ...required, description: 'The payout to think about.' }) },
    resolve: (_, { input: { recipient, ...input } }, context) =>
      orUserError({ errors: payoutRefusals, names: payoutNames({ recipient }), context }, async () =>
        getPayoutQuote(context, asGiven<Parameters<typeof getPayoutQuote>[1]>(operationInput(input, recipient))),
      ),
  }),
)

addMutation('createPayout', {
  description: 'Pays out from a stablecoin wallet to a bank account.',
  input: CreatePayoutInput,
  node: payoutLoader,
  movesMoney: true,
  run: (context, { recipient, ...input }) =>
    context.perform(
      createPayout,
      context,
      asGiven<Parameters<typeof createPayout>[1]>(operationInput(input, recipient)),
    ),
  payload: (t) => ({
    payout: t.field({ type: Payout, description: 'The new payout.', resolve: (payout) => payout }),
  }),
  errors: ['INVALID_INPUT', 'IDEMPOTENCY_KEY_REUSED', ...payoutRefusals.slice(1)],
  names: payoutNames,
})

const SimulatePayoutInput = builder.inputType('SimulatePayoutInput', {
  description: 'What shall become of a payout.',
  fields: (t) => ({
    payoutId: t.id({ description: idDescription('payout') }),
    payoutIdempotencyKey: t.string({ description: `In the place of \`payoutId\`: ${payoutKeyDescription}` }),
    status: t.field({ type: SettledStatusEnum, ...required, description: 'What it shall become.' }),
    cause: t.string({ description: 'Why, for people to read.' }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

addMutation('simulatePayout', {
  description: 'Plays the bank that pays a payout, does not pay it, or sends it back. In the sandbox only.',
  input: SimulatePayoutInput,
  node: payoutLoader,
  isSandboxOnly: true,
  movesMoney: true,
  names: { payoutKey: 'payoutIdempotencyKey' },
  run: (context, { payoutId, payoutIdempotencyKey, ...input }) =>
    context.perform(simulatePayout, context, {
      ...input,
      ...payoutName({ id: payoutId, idempotencyKey: payoutIdempotencyKey }),
    }),
  payload: (t) => ({
    payout: t.field({ type: Payout, description: 'The payout as it is now.', resolve: (payout) => payout }),
  }),
  errors: [
    'INVALID_INPUT',
    'IDEMPOTENCY_KEY_REUSED',
    'RESOURCE_NOT_FOUND',
    'PAYOUT_STATUS_CONFLICT',
    'BALANCE_LIMIT_EXCEEDED',
  ],
})

type Owned = { readonly customerId?: string | null | undefined; readonly walletId?: string | null | undefined }
type Recipient = typeof QuoteRecipientInput.$inferInput

/** The flat input of the operation, from one that says in one of several ways whom to pay. */
function operationInput<Input extends Owned>(input: Input, { bankAccount, payoutMethodId, currency }: Recipient) {
  // The operation would take it for a recipient that is given in full, and ask for fields that have no place here.
  if (payoutMethodId?.trim() === '') {
    throw invalidInput([{ field: 'payoutMethodId', code: 'MISSING_REQUIRED_FIELD', message: 'must not be empty' }])
  }
  const { accountName, recipientName, ...account } = { accountName: null, recipientName: null, ...bankAccount }
  if (isGiven(accountName) && isGiven(recipientName)) {
    const message = 'must be absent where recipientName, its older name, is given'
    throw invalidInput([{ field: 'accountName', code: 'INVALID_PARAMETER', message }])
  }
  return {
    ...input,
    customerId: localId('Customer', input.customerId),
    walletId: localId('Wallet', input.walletId),
    payoutMethodId: localIdOfAny(payoutMethodTypeNames, payoutMethodId),
    ...(bankAccount && { ...account, recipientName: isGiven(accountName) ? accountName : recipientName }),
    ...(currency && { recipientCurrency: currency }),
  }
}
