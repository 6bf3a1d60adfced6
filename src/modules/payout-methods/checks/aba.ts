import { type IdentifierCheck, toIdentifierCheck } from './check.ts'
import { weightedSum } from './weighted-sum.ts'

/**
 * Checks an ABA routing number: nine digits, a Federal Reserve range, and a check digit that finds every wrong single
 * digit.
 */
export function checkAba(routingNumber: string): IdentifierCheck {
  return toIdentifierCheck({ field: 'routingNumber', code: 'ABA', fault: abaError(routingNumber) })
}

function abaError(text: string): string | null {
  if (!/^\d{9}$/.test(text)) return 'An ABA routing number has nine digits.'
  // 00 is the US government, 01 to 12 banks, 21 to 32 thrifts, 61 to 72 electronic, 80 traveler's cheques.
  if (!/^(0\d|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)/.test(text)) {
    return 'An ABA routing number begins with 00 to 12, 21 to 32, 61 to 72 or 80.'
  }
  // Nine zeros satisfy the sum, but stand for nobody: they are what a form sends that was not filled in.
  if (/^0+$/.test(text)) return 'An ABA routing number is not all zeros.'
  return weightedSum(text, [3, 7, 1]) % 10 === 0 ? null : 'The check digit of the routing number is wrong.'
}
