import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkAba } from '../../../../src/modules/payout-methods/checks/check-bank-details.ts'
import { oneDigitChanged } from './mutations.ts'

const published = ['011000015', '021000021', '026009593', '111000025', '121000248', '322271627', '000000518']

describe('checkAba', () => {
  test.each(published)('accepts %s', (routingNumber) => {
    expect(checkAba(routingNumber)).toEqual({
      field: 'routingNumber',
      code: 'ABA',
      outcome: 'PASSED',
      message: 'The range and check digit of the routing number are right.',
    })
  })

  test.each([
    ['an empty text', '', /nine digits/],
    ['eight digits', '02100002', /nine digits/],
    ['ten digits', '0210000211', /nine digits/],
    ['a dash', '0210-00021', /nine digits/],
    ['an unassigned range', '500000005', /begins with/],
    ['the gap after 12', '130000006', /begins with/],
    ['all zeros', '000000000', /zeros/],
    ['a wrong check digit', '021000022', /check digit/],
    ['two digits swapped', '012000021', /check digit/],
  ])('rejects %s', (_, routingNumber, message) => {
    expect(checkAba(routingNumber)).toMatchObject({ outcome: 'FAILED', message: expect.stringMatching(message) })
  })

  // The weights 3, 7 and 1 have no factor in common with 10, so any single change alters the sum.
  test('detects any single changed digit', () => {
    const prefixes = fc.constantFrom('00', '01', '12', '21', '32', '61', '72', '80')
    const numbers = fc
      .tuple(prefixes, fc.stringMatching(/^\d{6}$/), fc.constantFrom(...'0123456789'))
      .map((parts) => parts.join(''))
      .filter((number) => checkAba(number).outcome === 'PASSED')
    fc.assert(fc.property(oneDigitChanged(numbers), ({ changed }) => checkAba(changed).outcome === 'FAILED'))
  })
})
