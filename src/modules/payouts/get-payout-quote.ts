import type { z } from 'zod'
import { timestamp } from '../../core/ids-and-clock.ts'
import { hasValue, oneOf, parseInput } from '../../core/input.ts'
import type { Amount } from '../../core/money/amount.ts'
import type { Context } from '../../operations/context.ts'
import { merchantWallTime } from '../../operations/context.ts'
import { requireActiveCustomer } from '../customers/get-customer.ts'
import type { IdentifierCheck } from '../payout-methods/checks/check.ts'
import type { BankPayoutMethod } from '../payout-methods/payout-method.ts'
import type { FeeSource } from '../pricing/fees.ts'
import type { WalletRow } from '../wallets/wallet.ts'
import type { Destination, Recipient } from './find-recipient.ts'
import { checkPayoutAccount, findRecipient } from './find-recipient.ts'
import { corridorTo, defaultTransferType, recipientCurrencies } from './payout.ts'
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

export type PayoutQuote = Destination & {
  readonly assetCode: string
  readonly amount: Amount
  /** The fee is `null` if the corridor never had a fee. */
  readonly fee: Amount | null
  readonly feeDeductedFrom: FeeSource | null
  readonly netAmount: Amount
  readonly total: Amount
  readonly exchangeRate: string
  /** `amountFiat` is in `recipientCurrency`, with eight decimal places. */
  readonly amountFiat: string
  readonly wallet: WalletRow
  readonly balanceAfter: Amount
  readonly payoutMethod: BankPayoutMethod | null
  /** The recipient's account fields are `null` if the input has no recipient. */
  readonly accountNumber: string | null
  readonly bankName: string | null
  readonly bankCode: string | null
  readonly recipientName: string | null
  readonly transferType: string
  readonly warnings: readonly IdentifierCheck[]
  readonly quotedAt: string
}

/**
 * Computes what `createPayout` would do now, without side effects. A quote ignores the idempotency key, because a quote
 * is for a new payout.
 *
 * @param input if the recipient's fields are absent, the quote is for the corridor
 * @throws DomainError in the same order as `createPayout`
 */
export async function getPayoutQuote(context: Context, input: PayoutInput): Promise<PayoutQuote> {
  const now = context.wallClock()
  // The price and `quotedAt` must refer to the same time.
  const fixedTimeContext = { ...context, wallClock: () => now }
  const { db } = context
  const request = parseQuoteRequest(input)
  const payer = requireActiveCustomer(db, context, request.customerId)
  const pendingRecipient: Promise<QuoteRecipient> =
    'payoutMethodId' in request
      ? findRecipient(db, context, request)
      : Promise.resolve({ ...unnamedRecipient, ...request })
  const { price, wallet } = await findPayoutTerms(db, fixedTimeContext, request, { payer, recipient: pendingRecipient })
  const recipient = await pendingRecipient
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
    quotedAt: timestamp(merchantWallTime(fixedTimeContext)),
  }
}

type QuoteRecipient = Recipient | (Destination & typeof unnamedRecipient)

const unnamedRecipient = { accountNumber: null, bankName: null, bankCode: null, recipientName: null, method: null }

type CorridorQuoteRequest = Omit<z.output<typeof CorridorQuoteInput>, 'recipientCountry'> & Destination

function parseQuoteRequest(input: PayoutInput): PayoutRequest | CorridorQuoteRequest {
  const { payoutMethodId, accountNumber, bankName, bankCode, recipientName } = input
  const hasRecipient = [payoutMethodId, accountNumber, bankName, bankCode, recipientName].some(hasValue)
  if (hasRecipient) return parsePayout(input)
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
