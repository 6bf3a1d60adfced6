import { checkAba } from './aba.ts'
import { checkBic } from './bic.ts'
import type { IdentifierCheck } from './check.ts'
import { checkIban } from './iban.ts'
import { checkNuban } from './nuban.ts'
import { checkSortCode } from './sort-code.ts'

/** The identifiers of a bank account, as the contract names them (4.4); the nullable ones are optional there. */
export type BankDetails = {
  currency: string
  accountNumber: string
  bankCode: string
  sortCode: string | null
  swiftCode: string | null
  routingNumber: string | null
  iban: string | null
}

/**
 * Checks whatever identifiers of a bank account can be checked, in the order of the contract's fields (ruling 23).
 *
 * The account number is checked for NGN only: no other currency of the contract has check digits that one rule covers.
 */
export function checkBankDetails(details: BankDetails): IdentifierCheck[] {
  const { currency, sortCode, swiftCode, routingNumber, iban } = details
  const checks = [
    currency === 'NGN' ? checkNuban(details) : null,
    sortCode === null ? null : checkSortCode(sortCode),
    swiftCode === null ? null : checkBic(swiftCode),
    routingNumber === null ? null : checkAba(routingNumber),
    iban === null ? null : checkIban(iban),
  ]
  return checks.filter((check) => check !== null)
}
