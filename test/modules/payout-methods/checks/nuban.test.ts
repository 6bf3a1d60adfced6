import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkNuban } from '../../../../src/modules/payout-methods/checks/check-bank-details.ts'
import { oneDigitChanged } from './mutations.ts'

const digits = (count: number) => fc.stringMatching(new RegExp(`^\\d{${count}}$`))
const bankCodes = fc.oneof(digits(3), fc.stringMatching(/^[1-9]\d{4}$/))

describe('checkNuban', () => {
  // The CBN's own two examples (First Bank, 011); the rest computed by its rule of 2020.
  test.each([
    ['the first example of the standard', '011', '0000014579'],
    ['the second example of the standard, whose check digit is 0', '011', '0000000220'],
    ['a financial institution with five digits: 27+35+0+15+28+21 + 3 = 129', '50547', '0000000011'],
    ['a financial institution with its leading 9 written out', '950547', '0000000011'],
  ])('accepts %s', (_, bankCode, accountNumber) => {
    expect(checkNuban({ accountNumber, bankCode })).toEqual({
      field: 'accountNumber',
      code: 'NUBAN',
      outcome: 'PASSED',
      message: 'The check digit of the account number fits the bank code.',
    })
  })

  test.each([
    ['a wrong check digit', '011', '0000014578', /check digit/],
    ['an account number of another bank', '058', '0000014579', /check digit/],
    ['nine digits', '011', '000001457', /ten digits/],
    ['eleven digits', '011', '00000145790', /ten digits/],
    ['letters', '011', 'ABCDEFGHIJ', /ten digits/],
    ['digits of another script', '011', '٠٠٠٠٠١٤٥٧٩', /ten digits/],
    ['an empty account number', '090267', '', /ten digits/],
  ])('rejects %s', (_, bankCode, accountNumber, message) => {
    expect(checkNuban({ accountNumber, bankCode })).toMatchObject({
      outcome: 'FAILED',
      message: expect.stringMatching(message),
    })
  })

  test.each(['', '01', '0011', '00103', '000013', '090267', '999992', '035A', 'GTB', '9505470'])(
    'returns null for a bank code that the Central Bank of Nigeria has not assigned: %j',
    (bankCode) => {
      expect(checkNuban({ accountNumber: '0000014579', bankCode })).toBeNull()
    },
  )

  test('accepts exactly one of the ten check digits', () => {
    fc.assert(
      fc.property(bankCodes, digits(9), (bankCode, serial) => {
        const outcomes = [...'0123456789'].map((digit) => outcomeOf(bankCode, serial + digit))
        expect(outcomes.filter((outcome) => outcome === 'PASSED')).toHaveLength(1)
      }),
    )
  })

  // The weights 3, 7 and 1 have no factor in common with 10, so any single change alters the sum.
  test('detects any single changed digit of the account number or bank code', () => {
    const numbers = fc
      .tuple(bankCodes, digits(9))
      .map(([bankCode, serial]) => `${bankCode}/${validNumber(bankCode, serial)}`)
    fc.assert(
      fc.property(oneDigitChanged(numbers), ({ text, changed }) => {
        const [bankCode = '', accountNumber = ''] = changed.split('/')
        expect(outcomeOf(...(text.split('/') as [string, string]))).toBe('PASSED')
        expect(outcomeOf(bankCode, accountNumber)).not.toBe('PASSED')
      }),
    )
  })
})

function outcomeOf(bankCode: string, accountNumber: string) {
  return checkNuban({ bankCode, accountNumber })?.outcome
}

function validNumber(bankCode: string, serial: string): string {
  return serial + [...'0123456789'].find((digit) => outcomeOf(bankCode, serial + digit) === 'PASSED')
}
