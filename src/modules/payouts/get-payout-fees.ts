import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import { hasValue, optionalOneOf, parseInput, positiveAmount } from '../../core/input.ts'
import type { Amount } from '../../core/money/amount.ts'
import type { Context } from '../../operations/context.ts'
import { payoutAssetCodes, recipientCurrencies } from './payout.ts'
import type { Quote } from './quote.ts'
import { quotePayout } from './quote.ts'

/** The original provider renamed `fromCurrency` to `currency`, and `toCurrency` to `recipientCurrency` (ruling 135). */
export const PayoutFeesInput = z.object({
  amount: positiveAmount(),
  currencyType: optionalOneOf(['FIAT']),
  fromCurrency: optionalOneOf(payoutAssetCodes),
  toCurrency: optionalOneOf(recipientCurrencies),
  currency: optionalOneOf(payoutAssetCodes),
  recipientCurrency: optionalOneOf(recipientCurrencies),
})

export type PayoutFees = Pick<Quote, 'exchangeRate' | 'amountFiat' | 'fee'> & {
  readonly amount: Amount
  readonly fromCurrency: string
  readonly toCurrency: string
}

/**
 * @throws DomainError, the first that applies: INVALID_INPUT, RATE_UNAVAILABLE, INVALID_INPUT (an amount too small to
 *   pay out)
 */
export async function getPayoutFees(context: Context, input: z.input<typeof PayoutFeesInput>): Promise<PayoutFees> {
  const request = parseInput(PayoutFeesInput, input, missingCurrencies(input))
  const { amount, currency, recipientCurrency } = request
  const fromCurrency = request.fromCurrency ?? currency ?? ''
  const toCurrency = request.toCurrency ?? recipientCurrency ?? ''
  const quote = await quotePayout(context.db, context, {
    ...{ assetCode: fromCurrency, recipientCurrency: toCurrency, amount },
  })
  return { ...quote, amount, fromCurrency, toCurrency }
}

function missingCurrencies(input: z.input<typeof PayoutFeesInput>): FieldError[] {
  const missing = (field: 'fromCurrency' | 'toCurrency', alternative: unknown): FieldError[] =>
    hasValue(input[field]) || hasValue(alternative)
      ? []
      : [{ field, code: 'MISSING_REQUIRED_FIELD', message: 'is required' }]
  return [...missing('fromCurrency', input.currency), ...missing('toCurrency', input.recipientCurrency)]
}
