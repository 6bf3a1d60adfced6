import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { sharedBuckets, sharedRateLimiter } from '../../src/rate-limit.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const elapsed = () => performance.now()

/** So many processes that share the limit, as their limiters; each question to the buckets takes a turn. */
function processes(count: number, perSecond: number) {
  const buckets = sharedBuckets(perSecond, elapsed)
  let questions = 0
  const limiters = Array.from({ length: count }, (_, holder) =>
    sharedRateLimiter(
      perSecond,
      {
        processes: count,
        exchange: async (request) => {
          questions++
          return buckets.exchange(holder, request)
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
  return { isLetPass, buckets, questions: () => questions }
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
        // Between any two requests that passed: a full bucket, and what was refilled meanwhile.
        const isTooMuch = passed.some((from, first) =>
          passed.some((to, last) => last >= first && last - first + 1 > perSecond * (1 + (to - from) / 1000) + 1e-6),
        )
        expect(isTooMuch).toBe(false)
      },
    ),
    { numRuns: 60 },
  )
})

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
  expect(passed.filter(Boolean)).toHaveLength(100)
})

test('what a process held that is gone counts as used, and no longer', async () => {
  const { isLetPass, buckets } = processes(2, 16)
  await isLetPass(0)
  buckets.forget(0)
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
