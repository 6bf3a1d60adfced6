/** An amount is an integer number of 10⁻⁸ units of an asset, from -`maxAmount` to `maxAmount`. */
export type Amount = bigint

export const amountPlaces = 8

export const oneUnit: Amount = 100_000_000n

/** Queries sum whole units and remainders separately, because a sum of amounts can exceed 64 bits. */
export function amountFromParts(units: bigint | number, rest: bigint | number): Amount {
  return BigInt(units) * oneUnit + BigInt(rest)
}

/** The maximum value of a 64-bit integer column on both engines. */
export const maxAmount: Amount = 9_223_372_036_854_775_807n

/**
 * An amount has at most ten digits before the point and eight after the point, not counting leading and trailing zeros
 * (ruling 36).
 */
export const amountPattern = /^(?:0*(\d{1,10})|(?=\.))(?:\.(\d{1,8})0*)?$/

/** Matching the amount pattern against a text of megabytes would block the event loop. */
const maxLength = 255

/** Returns `null` if the text does not have the format of ruling 36. Zero is valid. */
export function parseAmount(text: string): Amount | null {
  const parts = text.length > maxLength ? null : amountPattern.exec(text)
  if (parts === null) return null
  const [, whole = '', fraction = ''] = parts
  return BigInt(whole + fraction.padEnd(amountPlaces, '0'))
}

/** Formats with eight decimal places: `40.00000000`. */
export function formatAmount(amount: Amount): string {
  if (amount < 0n) return `-${formatAmount(-amount)}`
  const digits = amount.toString().padStart(amountPlaces + 1, '0')
  return `${digits.slice(0, -amountPlaces)}.${digits.slice(-amountPlaces)}`
}

const reasons: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/\s/, 'must not contain spaces'],
  [/^[\d.]*[,_']/, 'must have a point before its decimal places and no other separator, such as "1000.50"'],
  [/^[-−]/, 'must be above zero, without a sign'],
  [/^\+/, 'must not have a sign'],
  [/^(0+\.?0*|\.0+)$/, 'must be above zero'],
  [/^[\d.]+e[+-]?\d+$/i, 'must be written out in digits, without an exponent'],
  [/^\d{11,}(\.\d*)?$/, 'must have at most ten digits before the point'],
  [/^\d*\.\d{9,}$/, 'must have at most eight digits after the point'],
]

/** The message omits the field's name, for example `must be above zero`. */
export function describeInvalidAmount(text: string): string {
  return (
    reasons.find(([pattern]) => pattern.test(text))?.[1] ??
    'must be a decimal string above zero with at most ten digits before and eight after the point, such as "25.50"'
  )
}
