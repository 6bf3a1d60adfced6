import { describe, expect, test } from 'vitest'
import { checkBic } from '../../../../src/modules/payout-methods/checks/check-bank-details.ts'

describe('checkBic', () => {
  test.each([
    ['Deutsche Bank, Frankfurt', 'DEUTDEFF'],
    ['a branch of Deutsche Bank', 'DEUTDEFF500'],
    ['a head office with XXX', 'NEDSZAJJXXX'],
    ['First Bank of Nigeria', 'FBNINGLA'],
    ['a party prefix with digits, as allowed since 2014', 'E097AEXX'],
    ['Kosovo, whose code ISO 3166 does not list', 'NCBVXKPR'],
    ['lower case', 'deutdeff500'],
  ])('accepts %s', (_, swiftCode) => {
    expect(checkBic(swiftCode)).toEqual({
      field: 'swiftCode',
      code: 'BIC',
      outcome: 'PASSED',
      message: 'The form and country of the BIC are right.',
    })
  })

  test.each([
    ['an empty text', '', /8 or 11/],
    ['seven characters', 'DEUTDEF', /8 or 11/],
    ['ten characters', 'DEUTDEFF50', /8 or 11/],
    ['twelve characters', 'DEUTDEFF5000', /8 or 11/],
    ['punctuation', 'DEUT-DE-FF5', /8 or 11/],
    ['digits as country', 'DEUT12FF', /country/],
    ['an unknown country', 'DEUTZZFF', /country/],
  ])('rejects %s', (_, swiftCode, message) => {
    expect(checkBic(swiftCode)).toMatchObject({ outcome: 'FAILED', message: expect.stringMatching(message) })
  })

  test('accepts the 249 country codes of ISO 3166-1 and XK, and no other country code', () => {
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
    const pairs = letters.flatMap((first) => letters.map((second) => first + second))
    const passing = pairs.filter((country) => checkBic(`DEUT${country}FF`).outcome === 'PASSED')
    expect(passing).toHaveLength(250)
    const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
    expect(passing.filter((country) => names.of(country) === undefined)).toEqual([])
  })
})
