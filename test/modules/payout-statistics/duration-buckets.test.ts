import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bucketOfDuration, estimateQuantile } from '../../../src/modules/payout-statistics/duration-buckets.ts'

const fourthRootOfTwo = 2 ** (1 / 4)
const maxDurationMs = 97 * 86_400_000

test('the estimate of a duration between one second and 97 days is wrong by at most 19 %', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1_000, max: maxDurationMs }), (durationMs) => {
      const estimate = estimateQuantile(new Map([[bucketOfDuration(durationMs), 1]]), 0.5) ?? 0
      // The bounds are whole milliseconds.
      expect(estimate).toBeLessThanOrEqual(durationMs * fourthRootOfTwo + 1)
      expect(estimate).toBeGreaterThanOrEqual(durationMs / fourthRootOfTwo - 1)
    }),
  )
})

test.each([
  ['a negative duration', -5, 1, 1_000],
  ['a duration below a second', 999, 1, 1_000],
  ['a second', 1_000, 2, 1_189],
  ['a year', 365 * 86_400_000, 48, 1_000 * 2 ** 23],
])('%s is in the expected bucket, which has the expected estimate', (_, durationMs, bucket, estimate) => {
  expect(bucketOfDuration(durationMs)).toBe(bucket)
  expect(estimateQuantile(new Map([[bucket, 3]]), 0.95)).toBe(estimate)
})

test('a quantile is the estimate of the first bucket at which the cumulative count reaches the quantile', () => {
  const counts = new Map([
    [0, 1_000],
    [3, 5],
    [1, 90],
    [20, 5],
  ])
  expect(estimateQuantile(counts, 0.5)).toBe(1_000)
  expect(estimateQuantile(counts, 0.9)).toBe(1_000)
  expect(estimateQuantile(counts, 0.91)).toBe(Math.round(Math.sqrt(1_414 * 2_000)))
  expect(estimateQuantile(counts, 0.95)).toBe(Math.round(Math.sqrt(1_414 * 2_000)))
  expect(estimateQuantile(counts, 1)).toBe(estimateQuantile(new Map([[20, 1]]), 0.5))
  expect(estimateQuantile(new Map([[0, 7]]), 0.5)).toBe(null)
})
