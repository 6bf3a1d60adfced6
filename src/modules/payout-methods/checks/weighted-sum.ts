/**
 * The sum of decimal digits, each times its weight; `weights` begin anew when used up.
 *
 * A check of this sum modulo 10 finds every wrong single digit as long as no weight shares a factor with 10.
 */
export function weightedSum(digits: string, weights: readonly [number, ...number[]]): number {
  return [...digits].reduce((sum, digit, at) => sum + Number(digit) * (weights[at % weights.length] ?? 0), 0)
}
