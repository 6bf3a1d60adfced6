/** Money: an integer count of 10⁻⁸ units of an asset, exact, within ±`maxAmount`. */
export type Amount = bigint

/** Decimal places of every amount inside and outside the service. */
export const amountPlaces = 8

/** One whole unit of an asset. */
export const oneUnit: Amount = 100_000_000n

/** The largest amount or balance: what a signed 64-bit column holds on either engine. */
export const maxAmount: Amount = 9_223_372_036_854_775_807n

/** The form of an amount that moves money: at most ten digits and eight places, beside zeros that change nothing (ruling 36). */
export const amountPattern = /^(?:0*(\d{1,10})|(?=\.))(?:\.(\d{1,8})0*)?$/

/** With its zeros; a body may hold a thousand times as many, and to look through them would hold up others. */
const maxLength = 255

/** Reads the form of ruling 36 exactly; `null` for any other text. Zero is an amount; whether it may move is the caller's. */
export function parseAmount(text: string): Amount | null {
  const parts = text.length > maxLength ? null : amountPattern.exec(text)
  if (parts === null) return null
  const [, whole = '', fraction = ''] = parts
  return BigInt(whole + fraction.padEnd(amountPlaces, '0'))
}

/** The amount as a decimal string of eight places: `40.00000000`. */
export function formatAmount(amount: Amount): string {
  if (amount < 0n) return `-${formatAmount(-amount)}`
  const digits = amount.toString().padStart(amountPlaces + 1, '0')
  return `${digits.slice(0, -amountPlaces)}.${digits.slice(-amountPlaces)}`
}
