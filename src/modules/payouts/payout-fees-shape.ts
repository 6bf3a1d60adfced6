import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import { oneOf, plainText, text, unquotedType } from '../../rest/json-types.ts'
import { constant, member, resource } from '../../rest/shape.ts'
import type { PayoutFees } from './get-payout-fees.ts'
import { payoutAssetCodes, payoutDescriptions, recipientCurrencies } from './payout.ts'

/**
 * Formats a decimal string with two to eight places and without further trailing zeros, like the original provider's
 * samples.
 */
const shortDecimal = (description: string, example: string) =>
  plainText(description, example, { pattern: String.raw`^\d+\.\d{2,8}$` })

function shorten(text: string): string {
  return text.replace(/0{1,6}$/, '')
}

const shortAmount = (amount: Amount) => shorten(formatAmount(amount))

/** Writes the digits of the rate unchanged as a JSON number. */
const rateNumber = unquotedType<string>(
  { type: 'number', description: payoutDescriptions.exchangeRate, examples: [1600] },
  (rate) => rate,
)

/** The original provider's response has these member names, in this order. */
export const payoutFees = resource<PayoutFees>('PayoutFees', 'The fee of a payout and the amount that arrives.', {
  amount: member(({ amount }) => shortAmount(amount), shortDecimal('The requested amount.', '50.00')),
  currency_type: constant('The kind of payout.', 'FIAT'),
  from_currency: member(
    ({ fromCurrency }) => fromCurrency,
    oneOf(payoutDescriptions.assetCode, payoutAssetCodes, 'USDT'),
  ),
  fee: member(({ fee }) => shortAmount(fee ?? 0n), shortDecimal('The fee, in `from_currency`.', '0.10')),
  amount_after_fee: member(
    ({ amountFiat }) => shorten(amountFiat),
    shortDecimal('The amount that arrives, in `to_currency`.', '79840.00'),
  ),
  exchangeRate: member(({ exchangeRate }) => exchangeRate, rateNumber),
  to_currency: member(({ toCurrency }) => toCurrency, oneOf(payoutDescriptions.recipientCurrency, recipientCurrencies)),
  bank_fee: constant('The fee in `to_currency`. There is none: the fee is in the stablecoin.', '0.00'),
  market_pair: member(
    ({ fromCurrency, toCurrency }) => `${fromCurrency}${toCurrency}`.toLowerCase(),
    text('Both currencies, in lower case.', 'usdtngn'),
  ),
})
