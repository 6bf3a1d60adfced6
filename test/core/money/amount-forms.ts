import * as fc from 'fast-check'

/**
 * Ruling 36 implemented independently of the service: the value of an amount's text in 10⁻⁸ units, or `null` for
 * an invalid text. Zero is invalid, because it moves nothing.
 */
export function unitsByTheRule(text: string): bigint | null {
  const parts = text.split('.')
  const [written = '', decimals] = parts
  if (parts.length > 2 || (written === '' ? decimals === undefined : !isDigits(written))) return null
  if (decimals !== undefined && !isDigits(decimals)) return null
  const whole = written.replace(/^0+/, '')
  const fraction = decimals?.replace(/0+$/, '')
  if (whole.length > 10 || (fraction ?? '').length > 8) return null
  let units = 0n
  for (const digit of whole + (fraction ?? '').padEnd(8, '0')) units = units * 10n + BigInt('0123456789'.indexOf(digit))
  return units === 0n ? null : units
}

function isDigits(text: string): boolean {
  return text !== '' && [...text].every((character) => '0123456789'.includes(character))
}

/** Valid texts, from one unit to the maximum. */
export const amountText = fc
  .tuple(
    fc.oneof(
      fc.constantFrom('0', '1', '9', '10', '9999999999'),
      fc.bigInt({ min: 0n, max: 9_999_999_999n }).map(String),
    ),
    fc.oneof(
      fc.constant(''),
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 8 }).map((digits) => `.${digits}`),
    ),
  )
  .map(([whole, fraction]) => whole + fraction)

/** Valid texts with one character inserted, removed or replaced, to test the boundary of validity. */
export const mutatedAmountText = fc
  .tuple(
    amountText,
    fc.nat(),
    fc.constantFrom('insert', 'remove', 'replace'),
    fc.constantFrom(...'0019.,-+eE_x \t\n١５'),
  )
  .map(([text, place, mutation, character]) => {
    const at = place % (text.length + 1)
    const rest = text.slice(mutation === 'insert' ? at : at + 1)
    return text.slice(0, at) + (mutation === 'remove' ? '' : character) + rest
  })

/** Any text: from the characters of amounts, from all characters, and the two above. */
export const anyText = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'0123456789.'), maxLength: 22 }),
  fc.string({ unit: fc.constantFrom(...'0159.eE+-_x, \n'), maxLength: 14 }),
  fc.string({ unit: 'binary' }),
  amountText,
  mutatedAmountText,
)
