import { describe, expect, test } from 'vitest'
import {
  attemptDelaysMs,
  judgeResponse,
  nextAttemptAt,
  parseRetryAfterMs,
} from '../../../../src/modules/webhooks/transport/retry-schedule.ts'
import { wallTime } from '../../../support/times.ts'

const nowMs = Date.parse('2026-11-21T10:00:00.000Z')
const hour = 3_600_000
const next = (attempts: number, change: { retryAfter?: string; random?: number } = {}) => {
  const at = nextAttemptAt({
    attempts,
    now: wallTime(nowMs),
    retryAfter: change.retryAfter ?? null,
    random: () => change.random ?? 0.5,
  })
  return at === null ? null : at - nowMs
}

test('the retry schedule starts immediately and backs off over three days', () => {
  expect(attemptDelaysMs[0]).toBe(0)
  expect([1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempts) => next(attempts))).toEqual([
    5_000,
    300_000,
    hour / 2,
    2 * hour,
    5 * hour,
    10 * hour,
    14 * hour,
    20 * hour,
    24 * hour,
  ])
  expect(next(10)).toBeNull()
  expect(next(11)).toBeNull()
})

test('the retry delay has a random jitter of up to one fifth', () => {
  expect(next(2, { random: 0 })).toBe(240_000)
  expect(next(2, { random: 0.999999999 })).toBe(360_000)
})

// Ruling 62.
describe('Retry-After', () => {
  test('can delay an attempt, and never makes an attempt earlier', () => {
    expect(next(1, { retryAfter: '60' })).toBe(60_000)
    expect(next(2, { retryAfter: '60' })).toBe(300_000)
    expect(next(1, { retryAfter: 'Sat, 21 Nov 2026 10:01:00 GMT' })).toBe(60_000)
    expect(next(10, { retryAfter: '60' })).toBeNull()
  })

  test.each([
    [null, 0],
    ['0', 0],
    ['1', 1_000],
    ['86400', 24 * hour],
    ['86401', 24 * hour],
    ['9'.repeat(400), 24 * hour],
    ['Sat, 21 Nov 2026 10:00:30 GMT', 30_000],
    ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
    ['Fri, 01 Jan 2027 00:00:00 GMT', 24 * hour],
    ['-5', 0],
    ['1.5', 0],
    ['soon', 0],
    ['Sat, never', 0],
    ['-Sat, 21 Nov 2026 10:00:30 GMT', 0],
    ['', 0],
  ])('with the value %j is a delay of %i ms', (text, expected) =>
    expect(parseRetryAfterMs(text, wallTime(nowMs))).toBe(expected),
  )
})

test.each([
  [200, 'isDelivered'],
  [204, 'isDelivered'],
  [299, 'isDelivered'],
  [199, null],
  [300, null],
  [301, null],
  [302, null],
  [304, null],
  [400, null],
  [404, null],
  [410, 'isGone'],
  [429, 'isOverloaded'],
  [500, null],
  [502, 'isOverloaded'],
  [503, null],
  [504, 'isOverloaded'],
  [null, null],
])('judgeResponse for the status %s sets %s', (status, expected) => {
  const { isDelivered, isGone, isOverloaded } = judgeResponse(status)
  expect({ isDelivered, isGone, isOverloaded }).toEqual({
    isDelivered: expected === 'isDelivered',
    isGone: expected === 'isGone',
    isOverloaded: expected === 'isOverloaded',
  })
})
