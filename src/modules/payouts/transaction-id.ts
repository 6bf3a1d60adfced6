const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const length = 10
const count = 36n ** BigInt(length)

/**
 * The short reference of a merchant's payout number `sequence`: ten characters `[A-Z0-9]` (ruling 44). Payouts made before
 * it was settled have twelve, so none of theirs is met again.
 *
 * It is an affine bijection of the number modulo 36¹⁰, a million times the numbers that a sequence can give, hence unique per
 * merchant by construction, where a random text would need an index of its own that every payout writes to at a random place.
 * Its two coefficients come from the merchant's id, so that a recipient does not read off a reference how many payouts the
 * merchant makes.
 */
export function transactionId(merchantId: string, sequence: number): string {
  const { multiplier, offset } = coefficients(merchantId)
  let rest = (BigInt(sequence) * multiplier + offset) % count
  let text = ''
  for (let place = 0; place < length; place++) {
    text = alphabet.charAt(Number(rest % 36n)) + text
    rest /= 36n
  }
  return text
}

/**
 * The number of the merchant's payout that has a transaction id, which follows from it by the inverse of the same bijection; `null`
 * for a text that is none, or of a number that no sequence gives.
 */
export function sequenceOfTransactionId(merchantId: string, text: string): number | null {
  if (!/^[0-9A-Z]{10}$/.test(text)) return null
  const { multiplier, offset } = coefficients(merchantId)
  let value = 0n
  for (const letter of text) value = value * 36n + BigInt(alphabet.indexOf(letter))
  const sequence = (((value - offset + count) % count) * modularInverse(multiplier)) % count
  return sequence >= 1n && sequence < 2n ** 31n ? Number(sequence) : null
}

/** The number by which a multiplication modulo `count` is undone (the extended Euclidean algorithm). */
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
  // One more than a multiple of six shares no factor with 36, which is what makes the mapping one to one.
  cachedCoefficients = { merchantId, multiplier: (bits >> 3n) * 6n + 1n, offset: bits % count }
  return cachedCoefficients
}
