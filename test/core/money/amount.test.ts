import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { amountFromParts, formatAmount, maxAmount, parseAmount } from '../../../src/core/money/amount.ts'
import { amountText, anyText, unitsByTheRule } from './amount-forms.ts'

const anyAmount = fc.bigInt({ min: -maxAmount, max: maxAmount })

describe('formatAmount', () => {
  test.each([
    [0n, '0.00000000'],
    [1n, '0.00000001'],
    [-1n, '-0.00000001'],
    [100_000_000n, '1.00000000'],
    [-123_456_789n, '-1.23456789'],
    [999_999_999_999_999_999n, '9999999999.99999999'],
    [maxAmount, '92233720368.54775807'],
  ])('formatAmount writes %d units as %s', (amount, text) => {
    expect(formatAmount(amount)).toBe(text)
  })

  test('formatAmount writes eight decimal places, and the digits without the decimal point are the number of units', () => {
    fc.assert(
      fc.property(anyAmount, (amount) => {
        const text = formatAmount(amount)
        expect(text).toMatch(/^-?(0|[1-9]\d*)\.\d{8}$/)
        expect(BigInt(text.replace('.', ''))).toBe(amount)
      }),
      { numRuns: 2_000 },
    )
  })
})

test('amountFromParts returns the sum of amounts from the sums of their whole units and of their remainders', () => {
  fc.assert(
    fc.property(fc.array(anyAmount), (amounts) => {
      const sumOf = (parts: readonly bigint[]) => parts.reduce((sum, part) => sum + part, 0n)
      const units = sumOf(amounts.map((amount) => amount / 100_000_000n))
      const rest = sumOf(amounts.map((amount) => amount % 100_000_000n))
      expect(amountFromParts(units, rest)).toBe(sumOf(amounts))
    }),
  )
})

describe('parseAmount', () => {
  test.each([
    ['0', 0n],
    ['0.00000000', 0n],
    ['1', 100_000_000n],
    ['0.5', 50_000_000n],
    ['0.00000001', 1n],
    ['25.50', 2_550_000_000n],
    ['9999999999.99999999', 999_999_999_999_999_999n],
  ])('parseAmount reads %s as %d units', (text, units) => {
    expect(parseAmount(text)).toBe(units)
  })

  test('parseAmount rejects more than 255 characters', () => {
    expect(parseAmount(`${'0'.repeat(254)}5`)).toBe(500_000_000n)
    expect(parseAmount(`${'0'.repeat(255)}5`)).toBeNull()
    expect(parseAmount(`5.${'0'.repeat(253)}`)).toBe(500_000_000n)
    expect(parseAmount(`5.${'0'.repeat(254)}`)).toBeNull()
  })

  test('parseAmount reads back every formatted amount of up to ten integer digits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999_999n }), (amount) => {
        expect(parseAmount(formatAmount(amount))).toBe(amount)
      }),
      { numRuns: 2_000 },
    )
  })

  test('formatAmount returns every parsed text, with its fraction padded to eight decimal places', () => {
    fc.assert(
      fc.property(amountText, (text) => {
        const [whole, fraction = ''] = text.split('.')
        expect(formatAmount(parseAmount(text) ?? -1n)).toBe(`${whole}.${fraction.padEnd(8, '0')}`)
      }),
      { numRuns: 2_000 },
    )
  })

  test('parseAmount accepts the same texts as an independent implementation, and returns the same units', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const amount = parseAmount(text)
        expect(amount === 0n ? null : amount).toBe(unitsByTheRule(text))
      }),
      { numRuns: 10_000 },
    )
  })
})
