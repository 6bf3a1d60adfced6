import { Decimal } from 'decimal.js'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatAmount, parseAmount } from '../../../src/core/money/amount.ts'
import { calculateFee, convertAtRate, parsePercent, parseRate, percentChange } from '../../../src/core/money/pricing.ts'

const largest = 999_999_999_999_999_999n
const amount = fc.oneof(fc.bigInt({ min: 1n, max: 1_000n }), fc.bigInt({ min: 1n, max: largest }))
const billionths = fc.oneof(fc.bigInt({ min: 1n, max: 1_000n }), fc.bigInt({ min: 1n, max: 999_999_999_999_999_999n }))

/** A number of billionths as decimal text, without arithmetic. */
function decimal(count: bigint): string {
  const digits = count.toString().padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '')
}

const units = (text: string) => parseAmount(text) ?? -1n

describe('convertAtRate', () => {
  test.each([
    ['40', '1500', '60000.00000000'],
    ['0.00000001', '1500', '0.00000000'],
    ['0.00001', '1500', '0.01000000'],
    ['1', '0.009999999', '0.00000000'],
    ['33.33333333', '18.015', '600.49000000'],
    ['9999999999.99999999', '999999999.999999999', '9999999999999999980.00000000'],
  ])('convertAtRate converts %s at %s to %s', (text, rate, worth) => {
    expect(convertAtRate(units(text), rate, 2)).toBe(worth)
  })

  test('convertAtRate returns the exact product rounded down to the minor unit', () => {
    fc.assert(
      fc.property(amount, billionths, fc.integer({ min: 0, max: 8 }), (amount, rate, places) => {
        // Units of 10⁻⁸ times rates of 10⁻⁹ are counts of 10⁻¹⁷.
        const minorUnits = (amount * rate) / 10n ** BigInt(17 - places)
        const worth = formatAmount(minorUnits * 10n ** BigInt(8 - places))
        expect(convertAtRate(amount, decimal(rate), places)).toBe(worth)
      }),
      { numRuns: 5_000 },
    )
  })
})

describe('calculateFee', () => {
  test.each([
    ['40', '0.5', '1', '0.90000000'],
    ['40', '0', '0', '0.00000000'],
    ['40', '2.5', '0', '2.50000000'],
    // A hundredth of the smallest unit still costs one unit: fractions are rounded up.
    ['0.00000001', '0', '1', '0.00000001'],
    ['0.00000100', '0', '1', '0.00000001'],
    ['0.00000101', '0', '1', '0.00000002'],
    ['9999999999.99999999', '9999999999.99999999', '100', '19999999999.99999998'],
  ])('the fee on an amount of %s, with a flat part of %s and %s per cent, is %s', (text, flat, percent, fee) => {
    expect(formatAmount(calculateFee(units(text), { flat: units(flat), percent }))).toBe(fee)
  })

  test('calculateFee returns the flat part plus the exact percentage, rounded up', () => {
    fc.assert(
      fc.property(amount, amount, fc.bigInt({ min: 0n, max: 100_000_000_000n }), (amount, flat, percent) => {
        // Percentages of 10⁻⁹ of a hundredth: the divisor of the exact fraction is 10¹¹.
        const product = amount * percent
        const divisor = 10n ** 11n
        const roundedUp = product / divisor + (product % divisor === 0n ? 0n : 1n)
        expect(calculateFee(amount, { flat, percent: decimal(percent) })).toBe(flat + roundedUp)
      }),
      { numRuns: 5_000 },
    )
  })
})

test('integer arithmetic gives the same results as decimal.js, for rates and percentages of any precision', () => {
  const Exact = Decimal.clone({ precision: 60 })
  const places = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 18n }), fc.integer({ min: 0, max: 18 }))
  const text = places.map(([digits, places]) => new Exact(`${digits}e-${places}`).toFixed())
  fc.assert(
    fc.property(amount, text, fc.integer({ min: 0, max: 8 }), (amount, text, places) => {
      const value = new Exact(formatAmount(amount)).times(text).toDecimalPlaces(places, Decimal.ROUND_DOWN)
      expect(convertAtRate(amount, text, places)).toBe(value.toFixed(8))
      const fee = new Exact(`${amount}`).times(text).dividedBy(100).toDecimalPlaces(0, Decimal.ROUND_UP)
      expect(calculateFee(amount, { flat: 0n, percent: text })).toBe(BigInt(fee.toFixed()))
    }),
    { numRuns: 1_000 },
  )
})

describe('percentChange', () => {
  test.each([
    ['3', '4', '+33.33', true],
    ['3', '5', '+66.66', true],
    ['3', '1', '-66.66', true],
    ['1500', '1800', '+20.00', false],
    ['1500', '1200', '-20.00', false],
    ['1500', '1500', '+0.00', false],
    ['500000000.000000005', '600000000.000000006', '+20.00', false],
    ['500000000.000000005', '600000000.000000007', '+20.00', true],
    ['500000000.000000005', '400000000.000000003', '-20.00', true],
    ['0.000000001', '999999999.999999999', '+99999999999999999800.00', true],
  ])('a change from %s to %s is %s per cent; above 20 per cent: %s', (before, after, percent, isOver) => {
    expect(percentChange(before, after, 20)).toEqual({ percent, isOver })
  })

  test('percentChange returns the exact fraction rounded towards zero', () => {
    fc.assert(
      fc.property(billionths, billionths, fc.nat(200), (before, after, limit) => {
        const hundredths = ((after - before) * 10_000n) / before
        const isOver = (after < before ? before - after : after - before) * 100n > BigInt(limit) * before
        const { percent, ...rest } = percentChange(decimal(before), decimal(after), limit)
        expect(percent).toMatch(/^[+-]\d+\.\d\d$/)
        expect({ hundredths: BigInt(percent.replace('.', '').replace('+', '')), ...rest }).toEqual({
          hundredths,
          isOver,
        })
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('parseRate', () => {
  test.each([
    ['1500', '1500'],
    ['1545.50', '1545.5'],
    ['0.000000001', '0.000000001'],
    ['999999999.999999999', '999999999.999999999'],
    ['1.000', '1'],
  ])('parseRate reads %s as %s', (text, rate) => {
    expect(parseRate(text)).toBe(rate)
  })

  test.each([
    '',
    '0',
    '0.000',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '1_000',
    '.5',
    '5.',
    '01',
    ' 1',
    '1\n',
    '1000000000',
    '1.0000000001',
  ])('parseRate rejects %j', (text) => {
    expect(parseRate(text)).toBeNull()
  })

  test('parseRate keeps every digit', () => {
    fc.assert(
      fc.property(billionths, (rate) => {
        expect(parseRate(decimal(rate))).toBe(decimal(rate))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('parsePercent', () => {
  test.each([
    ['0', '0'],
    ['0.50', '0.5'],
    ['100', '100'],
    ['100.000000000', '100'],
    ['99.999999999', '99.999999999'],
  ])('parsePercent reads %s as %s', (text, percent) => {
    expect(parsePercent(text)).toBe(percent)
  })

  test.each(['100.000000001', '101', '-1', '1%', '', '1e1', '.5', '00'])('parsePercent rejects %j', (text) => {
    expect(parsePercent(text)).toBeNull()
  })
})
