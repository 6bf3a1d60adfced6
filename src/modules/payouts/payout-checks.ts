import type { IdentifierCheck } from '../payout-methods/checks/check.ts'
import { checkBankDetails } from '../payout-methods/checks/check-bank-details.ts'

/** What the checks find about the account that a payout goes to (ruling 23). */
export function checkPayoutAccount({
  recipientCurrency,
  accountNumber,
  bankCode,
}: {
  readonly recipientCurrency: string
  readonly accountNumber: string
  readonly bankCode: string
}): IdentifierCheck[] {
  const others = { sortCode: null, swiftCode: null, routingNumber: null, iban: null }
  return checkBankDetails({ currency: recipientCurrency, accountNumber, bankCode, ...others })
}
