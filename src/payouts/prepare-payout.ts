import type { Context } from '../context.ts'
import type { Reader } from '../database/query.ts'
import { allInOrder, invalidInput, notFound } from '../errors.ts'
import { notOneOf } from '../input.ts'
import type { Amount } from '../money/amount.ts'
import type { BankPayoutMethod } from '../payout-methods/payout-method.ts'
import { payoutMethodOf } from '../payout-methods/payout-method.ts'
import { payoutMethodById } from '../payout-methods/repository.ts'
import type { WalletRow } from '../wallets/wallet.ts'
import { corridorTo, recipientCurrencies } from './payout.ts'
import type { Quote } from './quote.ts'
import { findLikelyWallet, findPayingWallet, quotePayout } from './quote.ts'

/** Where a payout goes. */
export type Destination = { readonly recipientCurrency: string; readonly recipientCountry: string }

/** Whom a payout pays, to the account. */
export type BankDetails = Destination & {
  readonly accountNumber: string
  readonly bankName: string
  readonly bankCode: string
  readonly recipientName: string
}

/** What a payout is decided on: `Named` where the request says itself where the money goes. */
export type PayoutRequest<Named extends Destination> = {
  readonly customerId: string | null
  readonly walletId: string | null
  readonly assetCode: string
  readonly amount: Amount
} & (Named | { readonly payoutMethodId: string })

/** A payout as it would be made now. */
export type PreparedPayout<Named extends Destination> = {
  readonly recipient: Named | BankDetails
  /** The method that the recipient is taken from, where the request names one. */
  readonly method: BankPayoutMethod | null
  readonly price: Quote
  readonly wallet: WalletRow
}

/** What a payout is decided on beside the request: the recipient, the price, and the wallet that is likely to pay. */
export type PayoutFacts<Named extends Destination> = {
  readonly recipient: Named | BankDetails
  readonly method: BankPayoutMethod | null
  readonly price: Quote
  readonly likely: WalletRow | null
}

/**
 * Asks for all that a payout depends on at once, because on a server each wait is a round trip.
 *
 * @param payer resolves once the customer that pays may do so
 * @throws Refusal, the first that applies: that of `payer`, RESOURCE_NOT_FOUND (payout method), INVALID_INPUT (its
 *   currency), RATE_UNAVAILABLE, INVALID_INPUT (an amount of which nothing would arrive)
 */
export async function findPayoutFacts<Named extends Destination>(
  db: Reader,
  context: Context,
  request: PayoutRequest<Named>,
  payer: Promise<unknown>,
): Promise<PayoutFacts<Named>> {
  const { customerId, walletId, assetCode, amount } = request
  const ownerId = customerId ?? context.merchantId
  const priceFor = ({ recipientCurrency }: Destination) =>
    quotePayout(db, context, { assetCode, recipientCurrency, amount })
  const likelyWallet = findLikelyWallet(db, context, { ownerId, walletId, assetCode, amount })
  if (!('payoutMethodId' in request)) {
    const recipient = request as Named
    const [, price, likely] = await allInOrder([payer, priceFor(recipient), likelyWallet])
    return { recipient, method: null, price, likely }
  }
  const found = findRecipientMethod(db, context, request).then((method) => ({
    method,
    recipient: bankDetailsOf(method),
  }))
  const pricing = found.then(({ recipient }) => priceFor(recipient))
  const [, { method, recipient }, price, likely] = await allInOrder([payer, found, pricing, likelyWallet])
  return { recipient, method, price, likely }
}

/**
 * Decides everything about a payout and writes nothing, so that a quote and the payout after it can't differ.
 *
 * @throws Refusal, the first that applies: RESOURCE_NOT_FOUND (wallet), WALLET_NOT_FOUND, INSUFFICIENT_FUNDS
 */
export async function preparePayout<Named extends Destination>(
  db: Reader,
  context: Context,
  { customerId, walletId, assetCode }: PayoutRequest<Named>,
  { likely, ...facts }: PayoutFacts<Named>,
): Promise<PreparedPayout<Named>> {
  const ownerId = customerId ?? context.merchantId
  const wallet = await findPayingWallet(db, context, { ownerId, walletId, assetCode, total: facts.price.total, likely })
  return { ...facts, wallet }
}

/** The merchant may pay to any of its customers' methods; a customer's money goes to that customer's own. */
async function findRecipientMethod(
  db: Reader,
  { merchantId }: Context,
  { customerId, payoutMethodId }: { customerId: string | null; payoutMethodId: string },
): Promise<BankPayoutMethod> {
  const row = await payoutMethodById(db, { merchantId, id: payoutMethodId })
  const method = row && payoutMethodOf(row)
  const isPayable = method?.type === 'BANK' && (customerId === null || method.customerId === customerId)
  if (!isPayable) throw notFound('Payout method')
  return method
}

function bankDetailsOf({ currency, accountName, accountNumber, bankName, bankCode }: BankPayoutMethod): BankDetails {
  const corridor = corridorTo(currency)
  if (!corridor) {
    const { message, ...fault } = notOneOf('payoutMethodId', recipientCurrencies)
    throw invalidInput([{ ...fault, message: `is a method in ${currency}, and its currency ${message}` }])
  }
  const { recipientCurrency, recipientCountry } = corridor
  return { accountNumber, bankName, bankCode, recipientName: accountName, recipientCurrency, recipientCountry }
}
