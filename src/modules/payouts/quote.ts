import { DomainError, invalidInput, notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import { allOrFirstError } from '../../core/maybe-promise.ts'
import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import { calculateFee, convertAtRate } from '../../core/money/pricing.ts'
import type { Reader } from '../../database/query.ts'
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

/** `fee` and `feeDeductedFrom` are `null` if the corridor never had a fee. */
export type Quote = FeeSums & {
  readonly exchangeRate: string
  readonly amountFiat: string
  readonly fee: Amount | null
  readonly feeDeductedFrom: FeeSource | null
}

type PayoutTermsRequest = {
  readonly customerId: string | null
  readonly walletId: string | null
  readonly assetCode: string
  readonly amount: Amount
}

type PayoutParties = { readonly payer: Promise<unknown>; readonly recipient: Promise<Destination> }

export type PayoutTerms = { readonly price: Quote; readonly wallet: WalletRow }

/**
 * @throws DomainError, the first that applies: the error of `payer`, the error of `recipient`, RATE_UNAVAILABLE,
 * INVALID_INPUT (an amount too small to pay out), RESOURCE_NOT_FOUND (wallet), WALLET_NOT_FOUND, INSUFFICIENT_FUNDS
 */
export async function findPayoutTerms(
  db: Reader,
  context: Context,
  request: PayoutTermsRequest,
  parties: PayoutParties,
): Promise<PayoutTerms> {
  const { payer, recipient } = parties
  const [, , price] = await allOrFirstError([payer, recipient, quoteRecipient(db, context, request, recipient)])
  return { price, wallet: await findPayingWallet(db, context, { ...payerOf(context, request), total: price.total }) }
}

/**
 * The caller must also await `recipient`, because the recipient's errors have precedence over the quote's errors.
 *
 * @throws the errors of `quotePayout`
 */
export async function quoteRecipient(
  db: Reader,
  context: Context,
  { assetCode, amount }: Pick<PayoutTermsRequest, 'assetCode' | 'amount'>,
  recipient: Promise<Destination>,
): Promise<Quote> {
  const { recipientCurrency } = await recipient
  return quotePayout(db, context, { assetCode, recipientCurrency, amount })
}

export function payerOf(
  { merchantId }: Context,
  { customerId, walletId, assetCode }: Omit<PayoutTermsRequest, 'amount'>,
): Payer {
  return { ownerId: customerId ?? merchantId, walletId, assetCode }
}

/**
 * Uses the current rate and the current fee (rulings 42 and 43).
 *
 * @throws DomainError RATE_UNAVAILABLE if the pair has no rate; INVALID_INPUT if `amount` does not cover the fee or is
 * less than the minor unit of the recipient's currency
 */
export async function quotePayout(
  db: Reader,
  context: Context,
  { assetCode, recipientCurrency, amount }: { assetCode: string; recipientCurrency: string; amount: Amount },
): Promise<Quote> {
  const at = timestamp(merchantWallTime(context))
  const [rate, fee] = await allOrFirstError([
    rateInForce(db, { fromCode: assetCode, toCode: recipientCurrency, at }),
    feeInForce(db, { assetCode, recipientCurrency, at }),
  ])
  if (!rate) throw new DomainError('RATE_UNAVAILABLE', `There is no rate from ${assetCode} to ${recipientCurrency}.`)
  const quote = computeQuote(amount, { rate, fee })
  if (quote.netAmount <= 0n) throw feeNotCovered(assetCode, quote)
  // An amount may have eight decimal places even if the asset has six on the blockchain, because a payout makes no
  // blockchain transfer (ruling 36). A payout whose converted amount is zero is rejected, because the payout would only
  // charge a fee (ruling 47).
  if (!/[1-9]/.test(quote.amountFiat)) throw amountTooSmall(recipientCurrency, rate)
  return quote
}

function feeNotCovered(assetCode: string, { fee }: Quote): DomainError {
  const message = `must be more than the fee of ${formatAmount(fee ?? 0n)} ${assetCode}, which is deducted from it`
  return invalidInput([{ field: 'amount', code: 'INVALID_PARAMETER', message }])
}

function amountTooSmall(recipientCurrency: string, { minorUnitPlaces }: RateInForce): DomainError {
  const minorUnit = (10 ** -minorUnitPlaces).toFixed(minorUnitPlaces)
  const message = `is worth less than ${minorUnit} ${recipientCurrency}, so nothing would arrive`
  return invalidInput([{ field: 'amount', code: 'INVALID_PARAMETER', message }])
}

export function computeQuote(amount: Amount, { rate, fee: tariff }: { rate: RateInForce; fee: Fee | null }): Quote {
  const fee = tariff && calculateFee(amount, tariff)
  const feeDeductedFrom = tariff?.deductedFrom ?? null
  const { netAmount, total } = computeFeeSums({ amount, fee, feeDeductedFrom })
  const amountFiat = convertAtRate(netAmount, rate.rate, rate.minorUnitPlaces)
  return { exchangeRate: rate.rate, amountFiat, fee, feeDeductedFrom, netAmount, total }
}

/**
 * Returns the requested wallet, or the owner's oldest active wallet in the asset with sufficient funds (ruling 38).
 *
 * @throws DomainError RESOURCE_NOT_FOUND if the owner does not have the requested wallet; WALLET_NOT_FOUND if the
 *   requested wallet has another asset, or the owner has no active wallet in the asset; INSUFFICIENT_FUNDS
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

/**
 * Returns the oldest wallet with sufficient funds. If all wallets have insufficient funds, returns the oldest wallet,
 * for the error message.
 */
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
  if (wallet.status !== 'active') {
    throw new DomainError(
      'WALLET_NOT_FOUND',
      `The wallet is ${wallet.status}. \`walletId\` must name an active wallet, or be absent.`,
    )
  }
  return wallet
}
