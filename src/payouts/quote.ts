import type { Context } from '../context.ts'
import type { Reader } from '../database/query.ts'
import { allInOrder, invalidInput, notFound, Refusal } from '../errors.ts'
import type { Fee } from '../fees/fee.ts'
import { feeInForce } from '../fees/repository.ts'
import { timestamp } from '../ids.ts'
import type { Amount } from '../money/amount.ts'
import { formatAmount } from '../money/amount.ts'
import { convertAtRate, feeOn } from '../money/pricing.ts'
import type { RateInForce } from '../rates/rate.ts'
import { rateInForce } from '../rates/repository.ts'
import { oldestWalletWith, walletById } from '../wallets/repository.ts'
import type { WalletRow } from '../wallets/wallet.ts'
import type { Destination } from './find-recipient.ts'

/** The price of a payout now: `fee` is null where none was ever set, `total` is what leaves the wallet. */
export type Quote = {
  readonly exchangeRate: string
  readonly amountFiat: string
  readonly fee: Amount | null
  readonly total: Amount
}

/** What a payout is asked for with that bears on its price and on who pays it. */
type Asked = {
  readonly customerId: string | null
  readonly walletId: string | null
  readonly assetCode: string
  readonly amount: Amount
}

/** A payout's price, and the wallet that pays it. */
export type PayoutTerms = { readonly price: Quote; readonly wallet: WalletRow }

/**
 * All that is left to know of a payout; it writes nothing, so that a quote and the payout after it can't differ. What can be
 * asked for at once is, because on a server each wait is a round trip.
 *
 * @param who `payer` resolves once the customer may pay, `recipient` once it is known where the money goes
 * @throws Refusal, the first that applies: that of `payer`, that of `recipient`, RATE_UNAVAILABLE, INVALID_INPUT (an amount
 *   of which nothing would arrive), RESOURCE_NOT_FOUND (wallet), WALLET_NOT_FOUND, INSUFFICIENT_FUNDS
 */
export async function findPayoutTerms(
  db: Reader,
  context: Context,
  { customerId, walletId, assetCode, amount }: Asked,
  { payer, recipient }: { payer: Promise<unknown>; recipient: Promise<Destination> },
): Promise<PayoutTerms> {
  const owner = { ownerId: customerId ?? context.merchantId, walletId, assetCode }
  const likely = findLikelyWallet(db, context, { ...owner, amount })
  const pricing = recipient.then(({ recipientCurrency }) =>
    quotePayout(db, context, { assetCode, recipientCurrency, amount }),
  )
  const paying = Promise.all([pricing, likely]).then(([{ total }, likely]) =>
    findPayingWallet(db, context, { ...owner, total, likely }),
  )
  const [, , price, wallet] = await allInOrder([payer, recipient, pricing, paying])
  return { price, wallet }
}

/**
 * Prices a payout with the rate and the fee in force now (rulings 42 and 43).
 *
 * @throws Refusal RATE_UNAVAILABLE when the pair has no rate; INVALID_INPUT on `amount` when nothing would arrive
 */
export async function quotePayout(
  db: Reader,
  context: Context,
  { assetCode, recipientCurrency, amount }: { assetCode: string; recipientCurrency: string; amount: Amount },
): Promise<Quote> {
  const at = timestamp(context.now())
  const [rate, fee] = await Promise.all([
    rateInForce(db, { fromCode: assetCode, toCode: recipientCurrency, at }),
    feeInForce(db, { assetCode, recipientCurrency, at }),
  ])
  if (!rate) throw new Refusal('RATE_UNAVAILABLE', `There is no rate from ${assetCode} to ${recipientCurrency}.`)
  const quote = priceOf(amount, { rate, fee })
  // All eight places count: that is book money, which a bank pays out, and no transfer on chain, which may have six (ruling
  // 36). What is refused is a payout of nothing, for which a fee would be charged (ruling 47).
  if (!/[1-9]/.test(quote.amountFiat)) throw nothingArrives(recipientCurrency, rate)
  return quote
}

function nothingArrives(recipientCurrency: string, { minorUnitPlaces }: RateInForce): Refusal {
  const least = (10 ** -minorUnitPlaces).toFixed(minorUnitPlaces)
  const message = `is worth less than ${least} ${recipientCurrency}, so nothing would arrive`
  return invalidInput([{ field: 'amount', code: 'INVALID_PARAMETER', message }])
}

/** The price of paying out `amount` at a rate and a fee, the latter `null` where there is none. */
export function priceOf(amount: Amount, { rate, fee: tariff }: { rate: RateInForce; fee: Fee | null }): Quote {
  const fee = tariff && feeOn(amount, tariff)
  const amountFiat = convertAtRate(amount, rate.rate, rate.minorUnitPlaces)
  return { exchangeRate: rate.rate, amountFiat, fee, total: amount + (fee ?? 0n) }
}

type Payer = {
  readonly ownerId: string
  /** The wallet that the caller named, if it named one. */
  readonly walletId: string | null
  readonly assetCode: string
}

/** `likely` is what was found before the fee was known. */
type Paying = Payer & { readonly total: Amount; readonly likely: WalletRow | null }

/**
 * The wallet that pays `total`: the one named, or else the owner's oldest active one in the asset that covers it
 * (ruling 38).
 *
 * @throws Refusal RESOURCE_NOT_FOUND when the one named is not the owner's; WALLET_NOT_FOUND when it can't pay in the
 *   asset, or none is named and the owner has none; INSUFFICIENT_FUNDS about the one named, or the oldest
 */
async function findPayingWallet(db: Reader, context: Context, payer: Paying): Promise<WalletRow> {
  const { walletId, assetCode, total } = payer
  const wallet = walletId === null ? await oldestWallet(db, context, payer) : payableWallet(payer)
  if (wallet.balance >= total) return wallet
  const [available, required] = [wallet.balance, total]
  const message = `The wallet holds ${formatAmount(available)} ${assetCode}, and the payout with its fee takes ${formatAmount(required)}.`
  throw new Refusal('INSUFFICIENT_FUNDS', message, { available, required })
}

/** The one named, or the oldest that covers the amount without the fee: what is likely to pay, asked for before. */
function findLikelyWallet(
  db: Reader,
  { merchantId }: Context,
  { ownerId, walletId, assetCode, amount }: Payer & { amount: Amount },
): Promise<WalletRow | null> {
  if (walletId !== null) return walletById(db, { merchantId, id: walletId })
  return oldestWalletWith(db, { merchantId, ownerId, currency: assetCode, balance: amount })
}

/** The oldest that covers `total`, or else the oldest, which then is what the refusal is about. */
async function oldestWallet(db: Reader, { merchantId }: Context, { ownerId, assetCode, total, likely }: Paying) {
  // Whatever covers the total covers the amount too, so no older one does.
  if (likely && likely.balance >= total) return likely
  const owner = { merchantId, ownerId, currency: assetCode }
  const wallet =
    (await oldestWalletWith(db, { ...owner, balance: total })) ??
    (await oldestWalletWith(db, { ...owner, balance: 0n }))
  if (!wallet) throw new Refusal('WALLET_NOT_FOUND', `There is no active ${assetCode} wallet to pay from.`)
  return wallet
}

function payableWallet({ ownerId, assetCode, likely: wallet }: Paying): WalletRow {
  if (wallet?.ownerId !== ownerId) throw notFound('Wallet')
  if (wallet.currency !== assetCode) {
    throw new Refusal(
      'WALLET_NOT_FOUND',
      `The wallet holds ${wallet.currency}, and the payout is made in ${assetCode}.`,
    )
  }
  if (wallet.status !== 'active') throw new Refusal('WALLET_NOT_FOUND', 'The wallet to pay from is not active.')
  return wallet
}
