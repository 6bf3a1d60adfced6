import { defineEnum } from '../../../core/api/enum-descriptions.ts'

/** What can be checked about an identifier without asking anybody (ruling 23). */
export const checkCodes = defineEnum({
  NUBAN: 'The check digit of a Nigerian account number, which covers the bank code.',
  IBAN: 'The country, structure and check digits of an IBAN.',
  BIC: 'The form and country of a SWIFT code.',
  ABA: 'The range and check digit of an American routing number.',
  SORT_CODE: 'The form of a British sort code.',
  EVM_ADDRESS: 'The form and the EIP-55 checksum of an address of Ethereum and its kin.',
  TRON_ADDRESS: 'The version and checksum of a Tron address.',
  SOLANA_ADDRESS: 'The length of a Solana address.',
})

/** One of `checkCodes`. */
export type CheckCode = (typeof checkCodes)[number]

export const checkOutcomes = defineEnum({
  PASSED: 'Nothing is wrong with the identifier in itself.',
  FAILED: 'The identifier is probably mistyped. It is accepted nevertheless.',
})

/**
 * What a check found about one field of a payout method. A finding never refuses a request (ruling 23).
 *
 * `field` is its camelCase name, such as `accountNumber`. `message` is made of fixed sentences, never of the identifier,
 * because findings reach logs and account numbers must not.
 */
export type IdentifierCheck = {
  field: string
  code: CheckCode
  outcome: (typeof checkOutcomes)[number]
  message: string
}

/** The finding about `field`: failed with the sentence that says why, or passed where `fault` is null. */
export function toIdentifierCheck({
  field,
  code,
  fault,
}: {
  field: string
  code: CheckCode
  fault: string | null
}): IdentifierCheck {
  if (fault !== null) return { field, code, outcome: 'FAILED', message: fault }
  return { field, code, outcome: 'PASSED', message: passedMessages[code] }
}

/** Says what was verified and no more: none of these checks knows whether the account exists. */
const passedMessages: Record<CheckCode, string> = {
  NUBAN: 'The check digit of the account number fits the bank code.',
  IBAN: 'The country, structure and check digits of the IBAN are right.',
  BIC: 'The form and country of the BIC are right.',
  ABA: 'The range and check digit of the routing number are right.',
  SORT_CODE: 'The sort code has six digits; it carries no check digit.',
  EVM_ADDRESS: 'The form of the EVM address is right, and so is its EIP-55 checksum if it has one.',
  TRON_ADDRESS: 'The version byte and checksum of the Tron address are right.',
  SOLANA_ADDRESS: 'The Solana address encodes 32 bytes; it carries no checksum.',
}
