import { Decimal as BaseDecimal } from 'decimal.js'
import type { Amount } from './amount.ts'
import { amountPlaces, formatAmount } from './amount.ts'

// A rate has at most 18 digits, so 40 digits of precision are enough for every displayed digit. Results are rounded
// towards zero.
const Decimal = BaseDecimal.clone({ precision: 40, rounding: BaseDecimal.ROUND_DOWN })

const ratePattern = /^(0|[1-9]\d{0,8})(\.\d{1,9})?$/

/** Normalizes a rate: `1545.50` becomes `1545.5`. Returns `null` if the text is zero or not a rate. */
export function parseRate(text: string): string | null {
  if (!ratePattern.test(text)) return null
  const rate = new Decimal(text)
  return rate.isZero() ? null : rate.toFixed()
}

export function parsePercent(text: string): string | null {
  if (!ratePattern.test(text)) return null
  const percent = new Decimal(text)
  return percent.greaterThan(100) ? null : percent.toFixed()
}

/** `percent` has two decimal places. */
export function percentChange(before: string, after: string, limit: number): { percent: string; isOver: boolean } {
  const percent = new Decimal(after).minus(before).times(100).dividedBy(before)
  const sign = percent.isNegative() ? '' : '+'
  return { percent: `${sign}${percent.toFixed(2)}`, isOver: percent.abs().greaterThan(limit) }
}

/**
 * Rounds the fiat value down to `minorUnitPlaces`, and formats it with eight decimal places (ruling 43). A fiat value
 * can exceed the range of `Amount`. Bigint arithmetic is exact and faster than decimal.js.
 */
export function convertAtRate(amount: Amount, rate: string, minorUnitPlaces: number): string {
  const { digits, places } = toScaledInteger(rate)
  const minorUnits = (amount * digits) / powerOfTen(amountPlaces + places - minorUnitPlaces)
  return formatAmount(minorUnits * powerOfTen(amountPlaces - minorUnitPlaces))
}

/** Rounds the percentage fee up to 10⁻⁸. */
export function calculateFee(amount: Amount, { flat, percent }: { flat: Amount; percent: string }): Amount {
  const { digits, places } = toScaledInteger(percent)
  const hundred = powerOfTen(places + 2)
  return flat + (amount * digits + hundred - 1n) / hundred
}

/** Converts `1545.5` to the digits 15455 and one decimal place. */
function toScaledInteger(decimal: string): { digits: bigint; places: number } {
  const point = decimal.indexOf('.')
  if (point === -1) return { digits: BigInt(decimal), places: 0 }
  return { digits: BigInt(decimal.slice(0, point) + decimal.slice(point + 1)), places: decimal.length - point - 1 }
}

function powerOfTen(exponent: number): bigint {
  return powersOfTen[exponent] ?? 10n ** BigInt(exponent)
}

const powersOfTen = Array.from({ length: 40 }, (_, exponent) => 10n ** BigInt(exponent))
