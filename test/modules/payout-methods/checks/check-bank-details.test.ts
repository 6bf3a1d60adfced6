import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkCodes } from '../../../../src/modules/payout-methods/checks/check.ts'
import { type BankDetails, checkBankDetails } from '../../../../src/modules/payout-methods/checks/check-bank-details.ts'

const details: BankDetails = {
  currency: 'NGN',
  accountNumber: '0000014579',
  bankCode: '011',
  sortCode: null,
  swiftCode: null,
  routingNumber: null,
  iban: null,
}
const allFields = {
  sortCode: '12-34-56',
  swiftCode: 'DEUTDEFF500',
  routingNumber: '021000021',
  iban: 'BE68539007547034',
}

describe('checkBankDetails', () => {
  test('checks the account number only for the currency NGN', () => {
    expect(summary(details)).toEqual(['accountNumber NUBAN PASSED'])
    expect(summary({ ...details, currency: 'ZAR' })).toEqual([])
  })

  test('does not check an account number whose bank code the Central Bank of Nigeria has not assigned', () => {
    expect(summary({ ...details, bankCode: '000013' })).toEqual([])
  })

  test('checks every field that is present, in the order of the contract', () => {
    expect(summary({ ...details, ...allFields })).toEqual([
      'accountNumber NUBAN PASSED',
      'sortCode SORT_CODE PASSED',
      'swiftCode BIC PASSED',
      'routingNumber ABA PASSED',
      'iban IBAN PASSED',
    ])
  })

  test('reports every invalid field', () => {
    const invalidFields = { accountNumber: '1', sortCode: '1', swiftCode: '1', routingNumber: '1', iban: '1' }
    expect(summary({ ...details, ...invalidFields })).toEqual([
      'accountNumber NUBAN FAILED',
      'sortCode SORT_CODE FAILED',
      'swiftCode BIC FAILED',
      'routingNumber ABA FAILED',
      'iban IBAN FAILED',
    ])
  })

  test.each(['123456', '12-34-56', '12 34 56'])('accepts the sort code %s', (sortCode) => {
    expect(summary({ ...details, currency: 'GBP', sortCode })).toEqual(['sortCode SORT_CODE PASSED'])
  })

  test.each(['', '12345', '1234567', '12--34-56', '12.34.56', 'AB-CD-EF', '12-34-56\n'])(
    'rejects the sort code %j',
    (sortCode) => {
      expect(summary({ ...details, currency: 'GBP', sortCode })).toEqual(['sortCode SORT_CODE FAILED'])
    },
  )

  test('never throws for any texts', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.stringMatching(/^[\dA-Z]{0,40}$/))
    const optional = fc.option(text)
    const input = fc.record({
      currency: fc.constantFrom('NGN', 'ZAR', 'USD'),
      accountNumber: text,
      bankCode: text,
      sortCode: optional,
      swiftCode: optional,
      routingNumber: optional,
      iban: optional,
    })
    fc.assert(
      fc.property(input, (bank) => {
        for (const check of checkBankDetails(bank)) {
          expect(checkCodes).toContain(check.code)
          expect(check.message).toMatch(/^[A-Z].*\.$/)
        }
      }),
    )
  })

  test('never includes the last four digits of an identifier in a message', () => {
    const digits = fc.stringMatching(/^[3-9]{4,34}$/)
    fc.assert(
      fc.property(digits, (text) => {
        const iban = `DE${text}`
        const fields = { accountNumber: text, sortCode: text, swiftCode: text, routingNumber: text, iban }
        const messages = checkBankDetails({ ...details, ...fields }).map((check) => check.message)
        for (const message of messages) expect(message).not.toContain(text.slice(-4))
      }),
    )
  })
})

function summary(bank: BankDetails): string[] {
  return checkBankDetails(bank).map(({ field, code, outcome }) => `${field} ${code} ${outcome}`)
}
