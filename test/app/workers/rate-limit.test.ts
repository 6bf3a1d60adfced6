import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Refusal } from '../../../src/errors.ts'
import { rateLimiter, sharedRateLimiter, sharedWindows, strangerLimiter } from '../../../src/server/rate-limit.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const elapsed = () => performance.now()

/** So many processes that share the limit, as their limiters; each question to the windows takes a turn. */
function processes(count: number, perSecond: number) {
  const windows = sharedWindows(perSecond, elapsed)
  let questions = 0
  const limiters = Array.from({ length: count }, (_, holder) =>
    sharedRateLimiter(
      perSecond,
      {
        processes: count,
        exchange: async (request) => {
          questions++
          return windows.exchange(holder, request)
        },
      },
      elapsed,
    ),
  )
  const isLetPass = async (holder: number, merchantId = 'merchant') => {
    try {
      await limiters[holder]?.(merchantId, () => {})
      return true
    } catch (error) {
      expect(error).toBeInstanceOf(Refusal)
      return false
    }
  }
  return { isLetPass, windows, questions: () => questions }
}

test('however requests are spread over processes and time, together they get no more than the limit', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 200 }),
      fc.array(
        fc.record({
          holder: fc.integer({ min: 0, max: 2 }),
          requests: fc.integer({ min: 1, max: 120 }),
          thenMs: fc.integer({ min: 0, max: 700 }),
        }),
        { maxLength: 25 },
      ),
      async (perSecond, bursts) => {
        const { isLetPass } = processes(3, perSecond)
        const passed: number[] = []
        for (const { holder, requests, thenMs } of bursts) {
          const all = await Promise.all(Array.from({ length: requests }, () => isLetPass(holder)))
          for (const hasPassed of all) if (hasPassed) passed.push(elapsed())
          vi.advanceTimersByTime(thenMs)
        }
        // From any that passed to as many later ones as the limit lets pass.
        const isTooMuch = passed.some((from, i) => (passed[i + perSecond] ?? Number.POSITIVE_INFINITY) - from < 1_000)
        expect(isTooMuch).toBe(false)
      },
    ),
    { numRuns: 60 },
  )
})

test('one process alone lets no more pass in any second, and its whole limit in nearly each', () => {
  let now = 0
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 400 })), { maxLength: 40 }),
      (perSecond, bursts) => {
        const limit = rateLimiter(perSecond, () => now)
        const passed: number[] = []
        for (const [requests, thenMs] of bursts) {
          for (let i = 0; i < requests; i++) if (isPassed(() => limit('merchant', () => {}))) passed.push(now)
          now += thenMs
        }
        const isTooMuch = passed.some((from, i) => (passed[i + perSecond] ?? Number.POSITIVE_INFINITY) - from < 1_000)
        expect(isTooMuch).toBe(false)
      },
    ),
    { numRuns: 100 },
  )
  const limit = rateLimiter(50, () => now)
  let passed = 0
  for (let ms = 0; ms < 10_000; ms++) {
    if (isPassed(() => limit('merchant', () => {}))) passed++
    now++
  }
  // Those that come close together are free again together.
  expect(passed).toBeLessThanOrEqual(500)
  expect(passed).toBeGreaterThan(490)
})

test('keys that are refused are counted by address, in memory that has a bound', () => {
  const limit = strangerLimiter(2, elapsed)
  const isLetPass = (address: string) => isPassed(() => limit(address, () => {}))
  const passes = (...addresses: string[]) => addresses.map(isLetPass)
  expect(passes('10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.2')).toEqual([true, true, false, true])
  // The same machine by both protocols, and all addresses of a network of IPv6, are one caller.
  expect(passes('::ffff:10.0.0.2', '10.0.0.2')).toEqual([true, false])
  expect(passes('2001:db8::1', '2001:db8:0:0:ffff::2', '2001:db8::3')).toEqual([true, true, false])
  expect(passes('2001:db8:0:1::1', '::1', '::1', '::1')).toEqual([true, true, true, false])
  for (let i = 0; i < 10_000; i++) isLetPass(`10.1.${i >> 8}.${i & 255}`)
  const beyond = Array.from({ length: 5_000 }, (_, i) => isLetPass(`10.2.${i >> 8}.${i & 255}`))
  expect(beyond.filter(Boolean).length).toBeLessThanOrEqual(2)
  // What a second has emptied is forgotten, and there is room again.
  vi.advanceTimersByTime(1_000)
  expect(passes('10.3.0.1', '10.3.0.2', '10.3.0.3')).toEqual([true, true, true])
})

function isPassed(ask: () => unknown): boolean {
  try {
    ask()
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

test('a merchant gets its whole limit from one process or from several', async () => {
  for (const holders of [[0], [0, 1, 2]]) {
    const { isLetPass } = processes(3, 96)
    const asked = Array.from({ length: 200 }, (_, i) => isLetPass(holders[i % holders.length] as number))
    expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(96)
  }
})

test('what one process does not use the others get soon', async () => {
  const { isLetPass } = processes(2, 100)
  await isLetPass(0)
  vi.advanceTimersByTime(400)
  const passed = await Promise.all(Array.from({ length: 150 }, () => isLetPass(1)))
  // The one that was used is free again a second after that was told.
  expect(passed.filter(Boolean)).toHaveLength(99)
  vi.advanceTimersByTime(1_000)
  expect(await isLetPass(1)).toBe(true)
})

test('what a process held that is gone counts as used, and no longer', async () => {
  const { isLetPass, windows } = processes(2, 16)
  await isLetPass(0)
  windows.forget(0)
  expect((await Promise.all(Array.from({ length: 40 }, () => isLetPass(1)))).filter(Boolean)).toHaveLength(15)
  vi.advanceTimersByTime(1_000)
  expect((await Promise.all(Array.from({ length: 40 }, () => isLetPass(1)))).filter(Boolean)).toHaveLength(16)
})

test('a flood is refused without asking for each request', async () => {
  const { isLetPass, questions } = processes(2, 10)
  await Promise.all(Array.from({ length: 20 }, () => isLetPass(0)))
  const before = questions()
  await Promise.all(Array.from({ length: 5_000 }, () => isLetPass(0)))
  expect(questions() - before).toBeLessThanOrEqual(1)
})

test('merchants have limits of their own', async () => {
  const { isLetPass } = processes(2, 1)
  expect(await isLetPass(0, 'one')).toBe(true)
  expect(await isLetPass(1, 'one')).toBe(false)
  expect(await isLetPass(1, 'other')).toBe(true)
})
