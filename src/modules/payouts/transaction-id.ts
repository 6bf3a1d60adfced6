const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const length = 10
const count = 36n ** BigInt(length)

/**
 * Returns the short reference of a merchant's payout number `sequence`: ten characters `[A-Z0-9]` (ruling 44). Older
 * payouts have twelve, so there are no collisions.
 *
 * It is an affine bijection of the number modulo 36¹⁰, a million times the range of a sequence, hence unique per
 * merchant. A random text would need a unique index with random inserts. The two coefficients come from the merchant's
 * id, so that a reference does not reveal the number of the merchant's payouts.
 */
export function transactionId(merchantId: string, sequence: number): string {
  const { multiplier, offset } = coefficients(merchantId)
  let rest = (BigInt(sequence) * multiplier + offset) % count
  let text = ''
  for (let i = 0; i < length; i++) {
    text = alphabet.charAt(Number(rest % 36n)) + text
    rest /= 36n
  }
  return text
}

/** Inverts `transactionId`; `null` for a text that is not the id of any sequence number. */
export function sequenceOfTransactionId(merchantId: string, text: string): number | null {
  if (!/^[0-9A-Z]{10}$/.test(text)) return null
  const { multiplier, offset } = coefficients(merchantId)
  let value = 0n
  for (const letter of text) value = value * 36n + BigInt(alphabet.indexOf(letter))
  const sequence = (((value - offset + count) % count) * modularInverse(multiplier)) % count
  return sequence >= 1n && sequence < 2n ** 31n ? Number(sequence) : null
}

/** Returns the multiplicative inverse modulo `count`, by the extended Euclidean algorithm. */
function modularInverse(multiplier: bigint): bigint {
  let [rest, next, factor, following] = [count, multiplier, 0n, 1n]
  while (next !== 0n) {
    const times = rest / next
    ;[rest, next] = [next, rest - times * next]
    ;[factor, following] = [following, factor - times * following]
  }
  return factor + count
}

let cachedCoefficients = { merchantId: '', multiplier: 0n, offset: 0n }

function coefficients(merchantId: string) {
  if (cachedCoefficients.merchantId === merchantId) return cachedCoefficients
  const bits = BigInt(`0x${merchantId.replaceAll('-', '')}`)
  // One more than a multiple of six is coprime with 36, which makes the mapping a bijection.
  cachedCoefficients = { merchantId, multiplier: (bits >> 3n) * 6n + 1n, offset: bits % count }
  return cachedCoefficients
}
