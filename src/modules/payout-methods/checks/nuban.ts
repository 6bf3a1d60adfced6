import { type IdentifierCheck, toIdentifierCheck } from './check.ts'
import { weightedSum } from './weighted-sum.ts'

/**
 * Checks a Nigerian account number: ten digits, the last of which checks the bank's code and the nine before it (CBN,
 * NUBAN standard of 2010, revised in 2020). Finds every wrong single digit, of the number and of the bank code alike.
 *
 * @returns null where no check is possible, because the bank code is not one that the CBN assigned
 */
export function checkNuban({
  accountNumber,
  bankCode,
}: {
  accountNumber: string
  bankCode: string
}): IdentifierCheck | null {
  const institution = institutionCode(bankCode)
  const isWellFormed = /^\d{10}$/.test(accountNumber)
  if (isWellFormed && institution === null) return null

  const fault = isWellFormed
    ? checkDigitError(`${institution}${accountNumber}`)
    : 'A Nigerian account number (NUBAN) has ten digits.'
  return toIdentifierCheck({ field: 'accountNumber', code: 'NUBAN', fault })
}

/**
 * The six digits that stand for a bank in the check: `000` before a bank's three digits, `9` before the five of another
 * financial institution.
 *
 * Payment switches number banks their own way, and their codes say nothing about check digits: NIBSS writes six digits
 * (`000013` is not bank 013), aggregators pad (`00103`) or invent (`999992`). All of these give null.
 */
function institutionCode(bankCode: string): string | null {
  if (/^\d{3}$/.test(bankCode)) return `000${bankCode}`
  if (/^[1-9]\d{4}$/.test(bankCode)) return `9${bankCode}`
  if (/^9(?!99)[1-9]\d{4}$/.test(bankCode)) return bankCode
  return null
}

function checkDigitError(digits: string): string | null {
  const sum = weightedSum(digits.slice(0, -1), [3, 7, 3]) + Number(digits.slice(-1))
  return sum % 10 === 0
    ? null
    : 'The check digit of the account number does not fit the bank code: one of them is wrong.'
}
