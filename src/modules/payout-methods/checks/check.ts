import { defineEnum } from '../../../core/api/enum-descriptions.ts'

/** No check sends a request to a bank or to a blockchain node (ruling 23). */
export const checkCodes = defineEnum({
  NUBAN: 'The check digit of a Nigerian account number, which covers the bank code.',
  IBAN: 'The country, structure and check digits of an IBAN.',
  BIC: 'The form and country of a SWIFT code (BIC).',
  ABA: 'The range and check digit of a US routing number (ABA).',
  SORT_CODE: 'The form of a UK sort code.',
  EVM_ADDRESS: 'The form and the EIP-55 checksum of an EVM address.',
  TRON_ADDRESS: 'The version and checksum of a Tron address.',
  SOLANA_ADDRESS: 'The length of a Solana address.',
})

export type CheckCode = (typeof checkCodes)[number]

export const checkOutcomes = defineEnum({
  PASSED: 'The identifier is well-formed. Whether the account exists is not checked.',
  FAILED: 'The identifier is probably mistyped. It is accepted anyway.',
})

/**
 * A failed check never rejects a request (ruling 23).
 *
 * `field` is the checked field's camelCase name, for example `accountNumber`. `message` must not contain the checked
 * identifier, because check results are logged and account numbers must not appear in logs.
 */
export type IdentifierCheck = {
  field: string
  code: CheckCode
  outcome: (typeof checkOutcomes)[number]
  message: string
}

export function toIdentifierCheck({
  field,
  code,
  error,
}: {
  field: string
  code: CheckCode
  error: string | null
}): IdentifierCheck {
  if (error !== null) return { field, code, outcome: 'FAILED', message: error }
  return { field, code, outcome: 'PASSED', message: passedMessages[code] }
}

/**
 * The messages of passed checks claim no more than a valid format, because no check can find out whether the account
 * exists.
 */
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
