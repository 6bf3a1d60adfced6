import { expect, test } from 'vitest'
import { describeInvalidAmount } from '../../../src/core/money/amount.ts'

const general =
  'must be a decimal string above zero with at most ten digits before and eight after the point, such as "25.50"'
const spaces = 'must not contain spaces'
const separators = 'must have a point before its decimal places and no other separator, such as "1000.50"'
const negative = 'must be above zero, without a sign'
const sign = 'must not have a sign'
const zero = 'must be above zero'
const exponent = 'must be written out in digits, without an exponent'
const whole = 'must have at most ten digits before the point'
const fraction = 'must have at most eight digits after the point'

test.each([
  ['1,5', separators],
  ['1,000.50', separators],
  ['1_000', separators],
  ["1'000", separators],
  ['1000,50', separators],
  [',5', separators],
  ['1.000,50', separators],
  ['$1,000', general],
  ['-1,5', negative],
  ['0', zero],
  ['0.00000000', zero],
  ['.0', zero],
  ['.00', zero],
  ['00', zero],
  ['00.', zero],
  ['-5', negative],
  ['−5', negative],
  ['-0', negative],
  ['+5', sign],
  ['5+5', general],
  ['5-5', general],
  [' 7 ', spaces],
  ['7\n', spaces],
  ['\u00a07', spaces],
  ['1 000', spaces],
  ['1e5', exponent],
  ['1.5E-3', exponent],
  ['15e+10', exponent],
  ['.5e3', exponent],
  ['e5', general],
  ['1e', general],
  ['x1e5', general],
  ['1e5x', general],
  ['12345678901', whole],
  ['123456789012.25', whole],
  ['12345678901.', whole],
  ['x12345678901', general],
  ['12345678901x', general],
  ['12345678901.5', whole],
  ['1.123456789', fraction],
  ['.000000001', fraction],
  ['12.1234567890', fraction],
  ['x.123456789', general],
  ['1.123456789x', general],
  ['five', general],
  ['$5', general],
  ['5 USDC', spaces],
  ['0x10', general],
  ['1.2.3', general],
  ['.', general],
  ['٥', general],
  ['NaN', general],
])('an amount of %j is rejected because it %s', (text, reason) => {
  expect(describeInvalidAmount(text)).toBe(reason)
})
