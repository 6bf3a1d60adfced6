/** Reasons for which a text is no amount, each with the texts that it applies to; the first that applies is reported. */
const reasons: readonly (readonly [applies: RegExp, reason: string])[] = [
  [/\s/, 'must not contain spaces'],
  [/^[\d.]*[,_']/, 'must have a point before its decimal places and no other separator, such as "1000.50"'],
  [/^[-−]/, 'must be above zero, without a sign'],
  [/^\+/, 'must not have a sign'],
  [/^(0+\.?0*|\.0+)$/, 'must be above zero'],
  [/^[\d.]+e[+-]?\d+$/i, 'must be written out in digits, without an exponent'],
  [/^\d{11,}(\.\d*)?$/, 'must have at most ten digits before the point'],
  [/^\d*\.\d{9,}$/, 'must have at most eight digits after the point'],
]

/** Says why a text that was rejected as an amount is none: a predicate, such as `must be above zero`. */
export function describeInvalidAmount(text: string): string {
  return (
    reasons.find(([applies]) => applies.test(text))?.[1] ??
    'must be a decimal string above zero with at most ten digits before and eight after the point, such as "25.50"'
  )
}
