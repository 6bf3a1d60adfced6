import { describe, expect, test } from 'vitest'
import { backoffMs, requestedDelayMs } from '../../clients/typescript/src/backoff.ts'

const backoff = { baseDelayMs: 250, maxDelayMs: 8_000 }

describe('the delay before an attempt', () => {
  test('is random between zero and a bound that doubles with each attempt up to a maximum', () => {
    const bounds = [1, 2, 3, 4, 5, 6, 7, 2_000].map((failures) => backoffMs(backoff, failures, 1))
    expect(bounds).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000])
    expect([backoffMs(backoff, 3, 0), backoffMs(backoff, 3, 0.5)]).toEqual([0, 500])
  })

  test('differs between clients whose requests failed simultaneously', () => {
    const delays = Array.from({ length: 100 }, () => backoffMs(backoff, 4))
    expect(new Set(delays).size).toBeGreaterThan(90)
    expect(delays.every((delay) => delay >= 0 && delay <= 2_000)).toBe(true)
  })
})

test.each([
  ['seconds', { 'retry-after': '3' }, 3_000],
  ['zero seconds', { 'retry-after': '0' }, 0],
  ['a date', { 'retry-after': 'Thu, 01 Jan 1970 00:00:15 GMT' }, 5_000],
  ['a date in the past', { 'retry-after': 'Thu, 01 Jan 1970 00:00:05 GMT' }, 0],
  [
    'a date and the current date',
    { 'retry-after': 'Thu, 01 Jan 1970 00:00:15 GMT', date: 'Thu, 01 Jan 1970 00:00:12 GMT' },
    3_000,
  ],
  ['no remaining requests', { ratelimit: '"default";r=0;t=2' }, 2_000],
  ['a remaining request', { ratelimit: '"default";r=1;t=2' }, null],
  ['no headers', {}, null],
  ['an invalid Retry-After', { 'retry-after': 'soon' }, null],
])('a response with %s requests a delay of %3$s milliseconds', (_, headers, expected) => {
  expect(requestedDelayMs(new Headers(headers as Record<string, string>), 10_000)).toBe(expected)
})
