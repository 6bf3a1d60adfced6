import { expect, test } from 'vitest'
import { createCircuitBreaker } from '../../../src/modules/rails/orders/circuit-breaker.ts'

const [second, minute] = [1_000, 60_000]

function startBreaker() {
  let time = 1_000_000
  const breaker = createCircuitBreaker(() => time)
  const fail = (times: number) => {
    for (let each = 0; each < times; each++) breaker.recordFailure()
  }
  /** Whether the breaker allows one call exactly after `ms`, and none a millisecond earlier. */
  const allowsCallAfter = (ms: number) => {
    time += ms - 1
    const before = breaker.allowedCalls(8, 0)
    time += 1
    return [before, breaker.allowedCalls(8, 0)].join()
  }
  return { breaker, fail, allowsCallAfter }
}

test('a circuit breaker allows all calls of a rail until five consecutive calls fail', () => {
  const { breaker, fail } = startBreaker()
  fail(4)
  expect([breaker.allowedCalls(8, 0), breaker.allowedCalls(8, 3), breaker.allowedCalls(8, 9)]).toEqual([8, 5, -1])
  expect(breaker.recordSuccess()).toBe(false)
  fail(4)
  expect(breaker.allowedCalls(8, 0)).toBe(8)
  fail(1)
  expect([breaker.allowedCalls(8, 0), breaker.recordSuccess(), breaker.allowedCalls(8, 0)]).toEqual([0, true, 8])
})

test('an open circuit breaker allows one call at a time after its pause', () => {
  const { breaker, fail, allowsCallAfter } = startBreaker()
  fail(5)
  expect(allowsCallAfter(5 * second)).toBe('0,1')
  expect(breaker.allowedCalls(8, 1)).toBe(0)
})

test('a circuit breaker doubles its pause after each failure up to five minutes, and resets it after a success', () => {
  const { breaker, fail, allowsCallAfter } = startBreaker()
  fail(4)
  for (const seconds of [5, 10, 20, 40, 80, 160]) {
    fail(1)
    expect(allowsCallAfter(seconds * second)).toBe('0,1')
  }
  for (let each = 0; each < 2; each++) {
    fail(1)
    expect(allowsCallAfter(5 * minute)).toBe('0,1')
  }
  expect([breaker.recordSuccess(), breaker.allowedCalls(8, 0)]).toEqual([true, 8])
  fail(5)
  expect(allowsCallAfter(5 * second)).toBe('0,1')
})
