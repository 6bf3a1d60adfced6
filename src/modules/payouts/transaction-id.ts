const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const length = 10
const count = 36n ** BigInt(length)

/**
 * Returns a transaction id of ten characters `[A-Z0-9]` (ruling 44). Older transaction ids have twelve characters, so
 * old and new ids cannot collide.
 *
 * The transaction id is an affine bijection of the payout's sequence number modulo 36¹⁰, so transaction ids are unique
 * per merchant without a unique index. The two coefficients derive from the merchant's id, so that a transaction id
 * does not reveal how many payouts the merchant has made.
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

/**
 * Deposit numbers start above all payout numbers, so that a deposit and a payout cannot have the same transaction id.
 */
const firstDepositNumber = 2 ** 32

export function depositTransactionId(merchantId: string, sequence: number): string {
  return transactionId(merchantId, firstDepositNumber + sequence)
}

export function sequenceOfTransactionId(merchantId: string, text: string): number | null {
  const sequence = numberOfTransactionId(merchantId, text)
  return sequence !== null && isSequence(sequence) ? Number(sequence) : null
}

export function depositSequenceOfTransactionId(merchantId: string, text: string): number | null {
  const number = numberOfTransactionId(merchantId, text)
  if (number === null) return null
  const sequence = number - BigInt(firstDepositNumber)
  return isSequence(sequence) ? Number(sequence) : null
}

/** Sequence numbers fit in 31 bits. */
function isSequence(number: bigint): boolean {
  return number >= 1n && number < 2n ** 31n
}

function numberOfTransactionId(merchantId: string, text: string): bigint | null {
  if (!/^[0-9A-Z]{10}$/.test(text)) return null
  const { multiplier, offset } = coefficients(merchantId)
  let value = 0n
  for (const letter of text) value = value * 36n + BigInt(alphabet.indexOf(letter))
  return (((value - offset + count) % count) * modularInverse(multiplier)) % count
}

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
  // The multiplier must be coprime with 36, otherwise the mapping is not a bijection. A number of the form 6n + 1 is
  // coprime with 36.
  cachedCoefficients = { merchantId, multiplier: (bits >> 3n) * 6n + 1n, offset: bits % count }
  return cachedCoefficients
}
