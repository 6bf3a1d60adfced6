/** Money: an integer count of 10⁻⁸ units of an asset, exact, within ±`maxAmount`. */
export type Amount = bigint

/** Decimal places of every amount inside and outside the service. */
export const amountPlaces = 8

/** One whole unit of an asset. */
export const oneUnit: Amount = 100_000_000n

/** The largest amount or balance: what a signed 64-bit column holds on either engine. */
export const maxAmount: Amount = 9_223_372_036_854_775_807n

/** The form of an amount that moves money: at most ten digits and eight places, nothing else (ruling 36). */
export const amountPattern = /^(0|[1-9]\d{0,9})(\.\d{1,8})?$/

/** Reads the form of ruling 36 exactly; `null` for any other text. Zero is an amount; whether it may move is the caller's. */
export function parseAmount(text: string): Amount | null {
  if (!amountPattern.test(text)) return null
  const point = text.indexOf('.')
  if (point === -1) return BigInt(text) * oneUnit
  return BigInt(text.slice(0, point) + text.slice(point + 1).padEnd(amountPlaces, '0'))
}

/** The amount as a decimal string of eight places: `40.00000000`. */
export function formatAmount(amount: Amount): string {
  if (amount < 0n) return `-${formatAmount(-amount)}`
  const digits = amount.toString().padStart(amountPlaces + 1, '0')
  return `${digits.slice(0, -amountPlaces)}.${digits.slice(-amountPlaces)}`
}
