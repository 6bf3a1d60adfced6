import type { z } from 'zod'
import { timestamp } from '../../core/ids-and-clock.ts'
import { hasValue, oneOf, parseInput } from '../../core/input.ts'
import type { Amount } from '../../core/money/amount.ts'
import type { MaybePromise } from '../../database/query.ts'
import type { Context } from '../../operations/context.ts'
import { merchantWallTime } from '../../operations/context.ts'
import { requireActiveCustomer } from '../customers/get-customer.ts'
import type { IdentifierCheck } from '../payout-methods/checks/check.ts'
import type { BankPayoutMethod } from '../payout-methods/payout-method.ts'
import type { FeeSource } from '../pricing/fees.ts'
import type { WalletRow } from '../wallets/wallet.ts'
import type { Destination, Recipient } from './find-recipient.ts'
import { findRecipient } from './find-recipient.ts'
import { corridorTo, defaultTransferType, recipientCurrencies } from './payout.ts'
import { checkPayoutAccount } from './payout-checks.ts'
import type { PayoutInput, PayoutRequest } from './payout-input.ts'
import { CreatePayoutInput, corridorErrors, parsePayout, payoutMethodIdErrors } from './payout-input.ts'
import { findPayoutTerms } from './quote.ts'

const CorridorQuoteInput = CreatePayoutInput.omit({
  payoutMethodId: true,
  accountNumber: true,
  bankName: true,
  bankCode: true,
  recipientName: true,
}).extend({ recipientCurrency: oneOf(recipientCurrencies) })

/** A payout as it would be made now, for the same input, and what is doubtful about it. */
export type PayoutQuote = Destination & {
  readonly assetCode: string
  readonly amount: Amount
  /** `null` where none was ever set. */
  readonly fee: Amount | null
  readonly feeDeductedFrom: FeeSource | null
  /** What is converted for the recipient. */
  readonly netAmount: Amount
  /** What leaves the wallet. */
  readonly total: Amount
  readonly exchangeRate: string
  /** A decimal string of eight places, in `recipientCurrency`. */
  readonly amountFiat: string
  /** The wallet that would pay, as it is now. */
  readonly wallet: WalletRow
  readonly balanceAfter: Amount
  /** The method that the recipient is taken from, where the input names one. */
  readonly payoutMethod: BankPayoutMethod | null
  /** The four are `null` where the input names no recipient. */
  readonly accountNumber: string | null
  readonly bankName: string | null
  readonly bankCode: string | null
  readonly recipientName: string | null
  readonly transferType: string
  /** The failed checks of the recipient's account; none of them refuses a payout (ruling 23). */
  readonly warnings: readonly IdentifierCheck[]
  readonly quotedAt: string
}

/**
 * What `createPayout` would do now with the same input, without doing it.
 *
 * It keeps nothing: rate, fee and balance may be others a moment later. The idempotency key of a request is not looked
 * at, because a quote is about a new payout.
 *
 * @param input the fields of a payout; those of the bank account may all be left out, where only a price is asked for
 * @throws Refusal, those of `createPayout` in its order: INVALID_INPUT, RESOURCE_NOT_FOUND (customer), CUSTOMER_CLOSED,
 *   RESOURCE_NOT_FOUND (payout method), INVALID_INPUT (its currency), RATE_UNAVAILABLE, INVALID_INPUT (an amount of which
 *   nothing would arrive), RESOURCE_NOT_FOUND (wallet), WALLET_NOT_FOUND, INSUFFICIENT_FUNDS
 */
export async function getPayoutQuote(context: Context, input: PayoutInput): Promise<PayoutQuote> {
  const now = context.wallClock()
  // One moment for the price and for what the quote says of its time.
  const atOnce = { ...context, wallClock: () => now }
  const { db } = context
  const request = parseQuoteRequest(input)
  const payer = requireActiveCustomer(db, context, request.customerId)
  const finding: MaybePromise<QuoteRecipient> =
    'payoutMethodId' in request ? findRecipient(db, context, request) : { ...unnamedRecipient, ...request }
  const { price, wallet } = await findPayoutTerms(db, atOnce, request, { payer, recipient: finding })
  const recipient = await finding
  return {
    ...price,
    assetCode: request.assetCode,
    amount: request.amount,
    wallet,
    balanceAfter: wallet.balance - price.total,
    payoutMethod: recipient.method,
    accountNumber: recipient.accountNumber,
    bankName: recipient.bankName,
    bankCode: recipient.bankCode,
    recipientName: recipient.recipientName,
    recipientCurrency: recipient.recipientCurrency,
    recipientCountry: recipient.recipientCountry,
    transferType: request.transferType ?? defaultTransferType,
    warnings: warningsOf(recipient),
    quotedAt: timestamp(merchantWallTime(atOnce)),
  }
}

/** A recipient of whom no more may be known than where the money would go. */
type QuoteRecipient = Recipient | (Destination & typeof unnamedRecipient)

const unnamedRecipient = { accountNumber: null, bankName: null, bankCode: null, recipientName: null, method: null }

type CorridorQuoteRequest = Omit<z.output<typeof CorridorQuoteInput>, 'recipientCountry'> & Destination

/** Reads the input of a payout, or one that names no more of the recipient than the corridor. */
function parseQuoteRequest(input: PayoutInput): PayoutRequest | CorridorQuoteRequest {
  const { payoutMethodId, accountNumber, bankName, bankCode, recipientName } = input
  const namesRecipient = [payoutMethodId, accountNumber, bankName, bankCode, recipientName].some(hasValue)
  if (namesRecipient) return parsePayout(input)
  const request = parseInput(CorridorQuoteInput, input, [...payoutMethodIdErrors(input), ...corridorErrors(input)])
  const country = request.recipientCountry ?? corridorTo(request.recipientCurrency)?.recipientCountry
  return { ...request, recipientCountry: country ?? '' }
}

function warningsOf(recipient: QuoteRecipient): readonly IdentifierCheck[] {
  if (recipient.accountNumber === null) return []
  const checks =
    recipient.method === null ? checkPayoutAccount(recipient) : (recipient.method.checks as readonly IdentifierCheck[])
  return checks.filter(({ outcome }) => outcome === 'FAILED')
}
