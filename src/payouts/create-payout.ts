import { z } from 'zod'
import type { Context } from '../context.ts'
import { findActiveCustomer } from '../customers/get-customer.ts'
import { Conflict } from '../database/database.ts'
import type { Tx } from '../database/query.ts'
import type { FieldFault } from '../errors.ts'
import { allInOrder, Refusal } from '../errors.ts'
import type { Memory } from '../idempotency/once.ts'
import { once } from '../idempotency/once.ts'
import { writing } from '../idempotency/writing.ts'
import {
  faultsOf,
  identifier,
  isGiven,
  notOneOf,
  oneOf,
  optional,
  optionalFreeText,
  optionalIdentifier,
  optionalText,
  parse,
  positiveAmount,
  text,
  uuid,
  whoseId,
} from '../input.ts'
import { clearingAccountId } from '../ledger/account.ts'
import { postTransfer } from '../ledger/post-transfer.ts'
import { newRow } from '../lists/sequence.ts'
import type { Amount } from '../money/amount.ts'
import { withChecksum } from './contents.ts'
import type { Payout } from './payout.ts'
import {
  corridorTo,
  paymentPurposes,
  payoutAssetCodes,
  railOf,
  recipientCountries,
  recipientCurrencies,
  transferTypes,
} from './payout.ts'
import type { BankDetails } from './prepare-payout.ts'
import { findPayoutFacts, preparePayout } from './prepare-payout.ts'
import { insertPayout, payoutByIdempotencyKey } from './repository.ts'
import { transactionId } from './transaction-id.ts'

/**
 * Every field of a payout. Whom to pay is said in one of two ways: by `payoutMethodId`, or by the six fields that are
 * what such a method stands for, which are required then.
 */
export const CreatePayoutInput = z.object({
  customerId: whoseId(),
  walletId: whoseId(),
  payoutMethodId: whoseId(),
  assetCode: oneOf(payoutAssetCodes),
  accountNumber: optionalIdentifier(),
  bankName: optionalText(),
  bankCode: optionalIdentifier(),
  amount: positiveAmount(),
  recipientName: optionalText(),
  recipientCurrency: optional(oneOf(recipientCurrencies)),
  recipientCountry: optional(oneOf(recipientCountries)),
  // The contract's field list requires it and its sample omits it: absent means OTHER (ruling 40).
  paymentPurpose: optional(oneOf(paymentPurposes)).transform((purpose) => purpose ?? 'OTHER'),
  narration: optionalFreeText(),
  // Required for USD only, which is not payable yet (ruling 41).
  transferType: optional(oneOf(transferTypes)),
})

/** A payout as the contract's endpoint takes it (4.8): it names neither the wallet nor a method. */
export const BankPayoutInput = CreatePayoutInput.omit({ walletId: true, payoutMethodId: true }).extend({
  accountNumber: identifier(),
  bankName: text(),
  bankCode: identifier(),
  recipientName: text(),
  recipientCurrency: oneOf(recipientCurrencies),
  recipientCountry: oneOf(recipientCountries),
})

const DetailedPayoutInput = BankPayoutInput.extend({ walletId: CreatePayoutInput.shape.walletId })

const recipientFields = [
  'accountNumber',
  'bankName',
  'bankCode',
  'recipientName',
  'recipientCurrency',
  'recipientCountry',
] as const

const MethodPayoutInput = CreatePayoutInput.omit({
  accountNumber: true,
  bankName: true,
  bankCode: true,
  recipientName: true,
  recipientCurrency: true,
  recipientCountry: true,
}).extend({ payoutMethodId: uuid() })

const MethodId = CreatePayoutInput.pick({ payoutMethodId: true })

type Input = z.input<typeof CreatePayoutInput>

/**
 * Withdraws `amount` of a stablecoin to a bank account (contract 4.8).
 *
 * Amount and fee leave the paying wallet in the transaction that records the payout, so neither exists without the
 * other.
 *
 * @param input `amount` in units of `assetCode`, net of the fee; without `customerId` the merchant's wallet pays, and
 *   without `walletId` the one that ruling 38 chooses
 * @returns the payout, `PROCESSING`, with the wallet's balance after the debit
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND (customer),
 *   CUSTOMER_CLOSED, RESOURCE_NOT_FOUND (payout method), INVALID_INPUT (its currency), RATE_UNAVAILABLE, INVALID_INPUT
 *   (an amount of which nothing would arrive), RESOURCE_NOT_FOUND (wallet), WALLET_NOT_FOUND, INSUFFICIENT_FUNDS
 */
export const createPayout = writing('createPayout', async (context: Context, input: Input): Promise<Payout> => {
  const request = parsePayout(input)
  const { assetCode, amount } = request

  // What can be asked for at once is: on a server each wait is a round trip.
  return once(context, {
    request,
    memory: payoutMemory(context),
    find: (tx) =>
      findPayoutFacts<BankDetails>(tx, context, request, findActiveCustomer(tx, context, request.customerId)),
    operation: async (tx, idempotency, facts) => {
      const { recipient, method, price, wallet } = await preparePayout(tx, context, request, facts)
      const { merchantId } = context
      const id = context.newId()
      // The number first: whoever waits for it holds no wallet that another might need who has it.
      const [{ sequence, createdAt, updatedAt }, transfer] = await allInOrder([
        newRow(tx, context, 'payouts', id),
        payFrom(tx, context, { payoutId: id, walletId: wallet.id, assetCode, amount, fee: price.fee ?? 0n }),
      ])
      // Field by field: an object of so many that others are spread into takes ten times as long to make.
      const payout: Payout = {
        merchantId,
        id,
        sequence,
        walletId: wallet.id,
        customerId: request.customerId,
        payoutMethodId: method?.id ?? null,
        transferId: transfer.id,
        transactionId: transactionId(merchantId, sequence),
        referenceId: context.newId(),
        idempotencyKey: idempotency?.key ?? null,
        fingerprint: idempotency?.fingerprint ?? null,
        assetCode,
        amount,
        fee: price.fee,
        balanceAfter: transfer.walletBalance,
        exchangeRate: price.exchangeRate,
        amountFiat: price.amountFiat,
        recipientName: recipient.recipientName,
        recipientCurrency: recipient.recipientCurrency,
        recipientCountry: recipient.recipientCountry,
        bankName: recipient.bankName,
        bankCode: recipient.bankCode,
        accountNumber: recipient.accountNumber,
        paymentPurpose: request.paymentPurpose,
        narration: request.narration,
        transferType: railOf({
          transferType: request.transferType,
          recipientCurrency: recipient.recipientCurrency,
        }),
        ...untouched,
        createdAt,
        updatedAt,
      }
      await insertPayout(tx, withChecksum(payout))
      return payout
    },
  })
})

/** Moves amount and fee out of a wallet that was just seen to cover both. */
function payFrom(
  tx: Tx,
  context: Context,
  {
    payoutId,
    walletId,
    assetCode,
    amount,
    fee,
  }: { payoutId: string; walletId: string; assetCode: string; amount: Amount; fee: Amount },
) {
  return postTransfer(tx, context, {
    kind: 'payout',
    assetCode,
    walletId,
    debits: [{ accountId: walletId, amount: amount + fee }],
    credits: [
      { accountId: clearingAccountId('payouts_in_transit', assetCode), amount },
      { accountId: clearingAccountId('fees', assetCode), amount: fee },
    ],
    cause: { payoutId },
  }).catch((error) => {
    const isEmptied = error instanceof Refusal && error.code === 'INSUFFICIENT_FUNDS'
    throw isEmptied ? new Conflict('another request took the money first') : error
  })
}

/** Reads a payout that says in one of the two ways whom it pays; a request says nothing of the way that it does not use. */
export function parsePayout(input: Input) {
  if (isGiven(input.payoutMethodId)) return parse(MethodPayoutInput, input, impliedFaults(input))
  return parse(DetailedPayoutInput, input, [...emptyMethodFault(input), ...corridorFault(input)])
}

/** What the method says must not be said again: one of the two would be ignored. */
function impliedFaults(input: Input): FieldFault[] {
  return recipientFields
    .filter((field) => isGiven(input[field]))
    .map((field) => ({ field, code: 'INVALID_PARAMETER', message: 'must be absent where a payout method is named' }))
}

/** A recipient that is given in full is no reason to overlook the id of another. */
export function emptyMethodFault({ payoutMethodId }: Input): FieldFault[] {
  return faultsOf(MethodId, { payoutMethodId })
}

/** Currency and country of the recipient must agree (ruling 39). */
export function corridorFault({ recipientCurrency, recipientCountry }: Input): FieldFault[] {
  const corridor = corridorTo(recipientCurrency)
  const isKnownCountry = recipientCountries.some((country) => country === recipientCountry)
  if (!corridor || !isKnownCountry || corridor.recipientCountry === recipientCountry) return []
  const { message, ...fault } = notOneOf('recipientCountry', [corridor.recipientCountry])
  return [{ ...fault, message: `${message} for a recipient paid in ${corridor.recipientCurrency}` }]
}

/** The key of a payout is a column of the payout itself, so it is remembered for ever and can't be lost apart from it. */
function payoutMemory({ merchantId }: Context): Memory<Payout> {
  return {
    recall: async (tx, key) => {
      const payout = await payoutByIdempotencyKey(tx, { merchantId, idempotencyKey: key })
      return payout && { fingerprint: payout.fingerprint, result: asCreated(payout) }
    },
    keep: async () => {},
  }
}

/** The payout as its creation answered it, whatever has become of it since: a replay gives the same answer. */
function asCreated(payout: Payout): Payout {
  return { ...payout, ...untouched, updatedAt: payout.createdAt }
}

/** What a payout begins with, before anything has become of it. */
const untouched = {
  status: 'PROCESSING',
  receiverWalletId: null,
  cryptoTransactionId: null,
  network: null,
  address: null,
  fiatReferenceId: null,
} as const
