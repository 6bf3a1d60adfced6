import { Decimal as BaseDecimal } from 'decimal.js'
import type { Amount } from './amount.ts'
import { amountPlaces, formatAmount } from './amount.ts'

// Forty digits compare any two rates (18 digits each) exactly enough that only the shown places are rounded, and those down.
const Decimal = BaseDecimal.clone({ precision: 40, rounding: BaseDecimal.ROUND_DOWN })

/** The form of a rate or percentage: a plain decimal of at most nine digits before and nine after the point. */
const ratePattern = /^(0|[1-9]\d{0,8})(\.\d{1,9})?$/

/** The rate without needless zeros (`1545.50` becomes `1545.5`); `null` when the text has another form or is zero. */
export function parseRate(text: string): string | null {
  if (!ratePattern.test(text)) return null
  const rate = new Decimal(text)
  return rate.isZero() ? null : rate.toFixed()
}

/** A percentage from 0 to 100 without needless zeros; `null` when the text is anything else. */
export function parsePercent(text: string): string | null {
  if (!ratePattern.test(text)) return null
  const percent = new Decimal(text)
  return percent.greaterThan(100) ? null : percent.toFixed()
}

/** How much `after` is above or below `before`, in per cent with two places, and whether that is more than `limit` per cent. */
export function percentChange(before: string, after: string, limit: number): { percent: string; isOver: boolean } {
  const percent = new Decimal(after).minus(before).times(100).dividedBy(before)
  const sign = percent.isNegative() ? '' : '+'
  return { percent: `${sign}${percent.toFixed(2)}`, isOver: percent.abs().greaterThan(limit) }
}

/**
 * What `amount` is worth at `rate`, rounded down to `minorUnitPlaces`, as a decimal string of eight places (ruling 43).
 *
 * A string, because a fiat value at a high rate may exceed what a ledger amount holds, and it is never added up. In whole
 * numbers, which are exact whatever the places of the rate, and take a tenth of a decimal's time.
 */
export function convertAtRate(amount: Amount, rate: string, minorUnitPlaces: number): string {
  const { digits, places } = toScaledInteger(rate)
  const minorUnits = (amount * digits) / powerOfTen(amountPlaces + places - minorUnitPlaces)
  return formatAmount(minorUnits * powerOfTen(amountPlaces - minorUnitPlaces))
}

/** The fee on `amount`: `flat` plus `percent` per cent, rounded up to 10⁻⁸ so that no fraction is ever unpaid for. */
export function calculateFee(amount: Amount, { flat, percent }: { flat: Amount; percent: string }): Amount {
  const { digits, places } = toScaledInteger(percent)
  const hundred = powerOfTen(places + 2)
  return flat + (amount * digits + hundred - 1n) / hundred
}

/** A plain decimal as a count of its last place: 1545.5 is 15455 with one place. */
function toScaledInteger(decimal: string): { digits: bigint; places: number } {
  const point = decimal.indexOf('.')
  if (point === -1) return { digits: BigInt(decimal), places: 0 }
  return { digits: BigInt(decimal.slice(0, point) + decimal.slice(point + 1)), places: decimal.length - point - 1 }
}

function powerOfTen(exponent: number): bigint {
  return powersOfTen[exponent] ?? 10n ** BigInt(exponent)
}

const powersOfTen = Array.from({ length: 40 }, (_, exponent) => 10n ** BigInt(exponent))
