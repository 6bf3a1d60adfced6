import type { Context } from '../context.ts'
import type { Reader } from '../database/query.ts'
import { Refusal } from '../errors.ts'
import type { Fee } from '../fees/fee.ts'
import { feeInForce } from '../fees/repository.ts'
import { timestamp } from '../ids.ts'
import type { Amount } from '../money/amount.ts'
import { formatAmount } from '../money/amount.ts'
import { convertAtRate, feeOn } from '../money/rate.ts'
import type { RateInForce } from '../rates/rate.ts'
import { rateInForce } from '../rates/repository.ts'
import { oldestWalletWith } from '../wallets/repository.ts'

type PayoutTerms = { readonly assetCode: string; readonly recipientCurrency: string; readonly amount: Amount }

/** The price of a payout now: `fee` is null where none was ever set, `total` is what leaves the wallet. */
export type Quote = {
  readonly exchangeRate: string
  readonly amountFiat: string
  readonly fee: Amount | null
  readonly total: Amount
}

/**
 * Prices a payout with the rate and the fee in force now (rulings 42 and 43).
 *
 * @throws Refusal RATE_UNAVAILABLE when the pair has no rate
 */
export async function quotePayout(db: Reader, context: Context, terms: PayoutTerms): Promise<Quote> {
  const { assetCode, recipientCurrency, amount } = terms
  const at = timestamp(context.now())
  const [rate, fee] = await Promise.all([
    rateInForce(db, { fromCode: assetCode, toCode: recipientCurrency, at }),
    feeInForce(db, { assetCode, recipientCurrency, at }),
  ])
  if (!rate) throw new Refusal('RATE_UNAVAILABLE', `There is no rate from ${assetCode} to ${recipientCurrency}.`)
  return priceOf(amount, { rate, fee })
}

/** The price of paying out `amount` at a rate and a fee, the latter `null` where there is none. */
export function priceOf(amount: Amount, { rate, fee: tariff }: { rate: RateInForce; fee: Fee | null }): Quote {
  const fee = tariff && feeOn(amount, tariff)
  const amountFiat = convertAtRate(amount, rate.rate, rate.minorUnitPlaces)
  return { exchangeRate: rate.rate, amountFiat, fee, total: amount + (fee ?? 0n) }
}

type PayingWalletTerms = {
  readonly ownerId: string
  readonly assetCode: string
  readonly total: Amount
  readonly likely?: Awaited<ReturnType<typeof oldestWalletWith>>
}

/**
 * The wallet that pays: the owner's oldest active one in the asset that covers `total` (ruling 38).
 *
 * @param likely the oldest that covers the amount without the fee, so that it need not be asked for after the fee is known
 * @throws Refusal WALLET_NOT_FOUND when the owner has none in the asset, INSUFFICIENT_FUNDS about the oldest when none
 *   covers it
 */
export async function findPayingWallet(
  db: Reader,
  { merchantId }: Context,
  { ownerId, assetCode, total, likely }: PayingWalletTerms,
) {
  // Whatever covers the total covers the amount too, so no older one does.
  if (likely && likely.balance >= total) return likely
  const owner = { merchantId, ownerId, currency: assetCode }
  const wallet = await oldestWalletWith(db, { ...owner, balance: total })
  if (wallet) return wallet
  const oldest = await oldestWalletWith(db, { ...owner, balance: 0n })
  if (!oldest) throw new Refusal('WALLET_NOT_FOUND', `There is no active ${assetCode} wallet to pay from.`)
  const [available, required] = [oldest.balance, total]
  const message = `The wallet holds ${formatAmount(available)} ${assetCode}, and the payout with its fee takes ${formatAmount(required)}.`
  throw new Refusal('INSUFFICIENT_FUNDS', message, { available, required })
}
