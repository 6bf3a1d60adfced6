import { allOrFirstError, DomainError, invalidInput, notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import { calculateFee, convertAtRate } from '../../core/money/pricing.ts'
import type { MaybePromise, Reader } from '../../database/query.ts'
import { mapMaybe } from '../../database/query.ts'
import type { Context } from '../../operations/context.ts'
import { merchantWallTime } from '../../operations/context.ts'
import type { Payer } from '../ledger/post-transfer.ts'
import type { Fee, FeeSource, FeeSums } from '../pricing/fees.ts'
import { computeFeeSums } from '../pricing/fees.ts'
import type { RateInForce } from '../pricing/rates.ts'
import { feeInForce, rateInForce } from '../pricing/repository.ts'
import { oldestWalletWithBalance, walletById } from '../wallets/repository.ts'
import type { WalletRow } from '../wallets/wallet.ts'
import type { Destination } from './find-recipient.ts'

/** The price of a payout now: `fee` and `feeDeductedFrom` are null where none was ever set. */
export type Quote = FeeSums & {
  readonly exchangeRate: string
  readonly amountFiat: string
  readonly fee: Amount | null
  readonly feeDeductedFrom: FeeSource | null
}

/** What a payout is asked for with that bears on its price and on who pays it. */
type PayoutTermsRequest = {
  readonly customerId: string | null
  readonly walletId: string | null
  readonly assetCode: string
  readonly amount: Amount
}

/** Who pays, once it is known that they may, and whom, once that is known; what is against either is thrown by its promise only. */
type PayoutParties = { readonly payer: MaybePromise<unknown>; readonly recipient: MaybePromise<Destination> }

/** A payout's price, and the wallet that pays it. */
export type PayoutTerms = { readonly price: Quote; readonly wallet: WalletRow }

/**
 * What a payout would take now, and from which wallet; it writes nothing.
 *
 * @throws Refusal, the first that applies: that of `payer`, that of `recipient`, RATE_UNAVAILABLE, INVALID_INPUT (an amount
 *   of which nothing would arrive), RESOURCE_NOT_FOUND (wallet), WALLET_NOT_FOUND, INSUFFICIENT_FUNDS
 */
export async function findPayoutTerms(
  db: Reader,
  context: Context,
  asked: PayoutTermsRequest,
  who: PayoutParties,
): Promise<PayoutTerms> {
  const price = await quoteWithParties(db, context, asked, who)
  return { price, wallet: await findPayingWallet(db, context, { ...payerOf(context, asked), total: price.total }) }
}

/**
 * The price alone; all that it takes to know it is asked for at once, because on a server each wait is a round trip.
 *
 * @throws Refusal as `findPayoutTerms`, but for those of the wallet
 */
export function quoteWithParties(
  db: Reader,
  context: Context,
  { assetCode, amount }: Pick<PayoutTermsRequest, 'assetCode' | 'amount'>,
  { payer, recipient }: PayoutParties,
): MaybePromise<Quote> {
  const quote = ({ recipientCurrency }: Destination) =>
    quotePayout(db, context, { assetCode, recipientCurrency, amount })
  // Where nobody is waited for there is nothing against them, and no refusal of theirs that goes before one of the price.
  if (!(payer instanceof Promise || recipient instanceof Promise)) return quote(recipient)
  const pricing = Promise.resolve(recipient).then(quote)
  return mapMaybe(allOrFirstError([payer, recipient, pricing]), ([, , price]) => price)
}

/** Whose wallet pays: the customer's, or the merchant's own. */
export function payerOf(
  { merchantId }: Context,
  { customerId, walletId, assetCode }: Omit<PayoutTermsRequest, 'amount'>,
): Payer {
  return { ownerId: customerId ?? merchantId, walletId, assetCode }
}

/**
 * Prices a payout with the rate and the fee in force now (rulings 42 and 43).
 *
 * @throws Refusal RATE_UNAVAILABLE when the pair has no rate; INVALID_INPUT on `amount` when it does not cover the fee,
 *   or nothing would arrive
 */
export function quotePayout(
  db: Reader,
  context: Context,
  { assetCode, recipientCurrency, amount }: { assetCode: string; recipientCurrency: string; amount: Amount },
): MaybePromise<Quote> {
  const at = timestamp(merchantWallTime(context))
  const inForce = allOrFirstError([
    rateInForce(db, { fromCode: assetCode, toCode: recipientCurrency, at }),
    feeInForce(db, { assetCode, recipientCurrency, at }),
  ])
  return mapMaybe(inForce, ([rate, fee]) => {
    if (!rate) throw new DomainError('RATE_UNAVAILABLE', `There is no rate from ${assetCode} to ${recipientCurrency}.`)
    const quote = computeQuote(amount, { rate, fee })
    if (quote.netAmount <= 0n) throw feeNotCovered(assetCode, quote)
    // All eight places count: that is book money, which a bank pays out, and no transfer on chain, which may have six (ruling
    // 36). What is refused is a payout of nothing, for which a fee would be charged (ruling 47).
    if (!/[1-9]/.test(quote.amountFiat)) throw amountTooSmall(recipientCurrency, rate)
    return quote
  })
}

function feeNotCovered(assetCode: string, { fee }: Quote): DomainError {
  const message = `must be more than the fee of ${formatAmount(fee ?? 0n)} ${assetCode}, which is deducted from it`
  return invalidInput([{ field: 'amount', code: 'INVALID_PARAMETER', message }])
}

function amountTooSmall(recipientCurrency: string, { minorUnitPlaces }: RateInForce): DomainError {
  const least = (10 ** -minorUnitPlaces).toFixed(minorUnitPlaces)
  const message = `is worth less than ${least} ${recipientCurrency}, so nothing would arrive`
  return invalidInput([{ field: 'amount', code: 'INVALID_PARAMETER', message }])
}

/** The price of paying out `amount` at a rate and a fee, the latter `null` where there is none. */
export function computeQuote(amount: Amount, { rate, fee: tariff }: { rate: RateInForce; fee: Fee | null }): Quote {
  const fee = tariff && calculateFee(amount, tariff)
  const feeDeductedFrom = tariff?.deductedFrom ?? null
  const { netAmount, total } = computeFeeSums({ amount, fee, feeDeductedFrom })
  const amountFiat = convertAtRate(netAmount, rate.rate, rate.minorUnitPlaces)
  return { exchangeRate: rate.rate, amountFiat, fee, feeDeductedFrom, netAmount, total }
}

/**
 * The wallet that pays `total`: the one named, or else the owner's oldest active one in the asset that covers it
 * (ruling 38).
 *
 * @throws Refusal RESOURCE_NOT_FOUND when the one named is not the owner's; WALLET_NOT_FOUND when it can't pay in the
 *   asset, or none is named and the owner has none; INSUFFICIENT_FUNDS about the one named, or the oldest
 */
export async function findPayingWallet(
  db: Reader,
  { merchantId }: Context,
  { ownerId, walletId, assetCode, total }: Payer & { readonly total: Amount },
): Promise<WalletRow> {
  const wallet =
    walletId === null
      ? await findOldestWallet(db, { merchantId, ownerId, currency: assetCode }, total)
      : requirePayableWallet(await walletById(db, { merchantId, id: walletId }), { ownerId, assetCode })
  if (wallet.balance >= total) return wallet
  const [available, required] = [wallet.balance, total]
  const message = `The wallet holds ${formatAmount(available)} ${assetCode}, and the payout with its fee takes ${formatAmount(required)}.`
  throw new DomainError('INSUFFICIENT_FUNDS', message, { available, required })
}

/** The oldest that covers `total`, or else the oldest, which then is what the refusal is about. */
async function findOldestWallet(
  db: Reader,
  owner: { merchantId: string; ownerId: string; currency: string },
  total: Amount,
): Promise<WalletRow> {
  const wallet =
    (await oldestWalletWithBalance(db, { ...owner, balance: total })) ??
    (await oldestWalletWithBalance(db, { ...owner, balance: 0n }))
  if (wallet) return wallet
  throw new DomainError('WALLET_NOT_FOUND', `There is no active ${owner.currency} wallet to pay from.`)
}

function requirePayableWallet(
  wallet: WalletRow | null,
  { ownerId, assetCode }: Pick<Payer, 'ownerId' | 'assetCode'>,
): WalletRow {
  if (wallet?.ownerId !== ownerId) throw notFound('Wallet')
  if (wallet.currency !== assetCode) {
    throw new DomainError(
      'WALLET_NOT_FOUND',
      `The wallet holds ${wallet.currency}, and the payout is made in ${assetCode}.`,
    )
  }
  if (wallet.status !== 'active') throw new DomainError('WALLET_NOT_FOUND', 'The wallet to pay from is not active.')
  return wallet
}
