import { type IdentifierCheck, toIdentifierCheck } from './check.ts'

/** Checks a British sort code: six digits, in pairs or not. It carries no check digit, so only its form can be checked. */
export function checkSortCode(sortCode: string): IdentifierCheck {
  const isWellFormed = /^\d{2}[- ]?\d{2}[- ]?\d{2}$/.test(sortCode)
  const fault = isWellFormed ? null : 'A sort code has six digits, in pairs if they are separated by dashes or spaces.'
  return toIdentifierCheck({ field: 'sortCode', code: 'SORT_CODE', fault })
}
