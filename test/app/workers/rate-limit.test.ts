import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import type { TokenExchangeRequest, TokenExchangeResult } from '../../../src/server/http/rate-limit.ts'
import {
  createRateLimiter,
  createSharedRateLimiter,
  createSharedWindows,
  createUnauthenticatedRateLimiter,
} from '../../../src/server/http/rate-limit.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const elapsed = () => performance.now()

/** Creates the limiters of several processes that share the limit; each exchange takes a turn of the event loop. */
function processes(count: number, perSecond: number) {
  const windows = createSharedWindows(perSecond, elapsed)
  let questions = 0
  const limiters = Array.from({ length: count }, (_, holder) =>
    createSharedRateLimiter(
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
      expect(error).toBeInstanceOf(DomainError)
      return false
    }
  }
  return { isLetPass, windows, questions: () => questions }
}

test('all processes together admit no more requests than the limit, however the requests are distributed among them', async () => {
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
        // A window from each admitted request over as many later ones as the limit.
        const isTooMuch = passed.some((from, i) => (passed[i + perSecond] ?? Number.POSITIVE_INFINITY) - from < 1_000)
        expect(isTooMuch).toBe(false)
      },
    ),
    { numRuns: 60 },
  )
})

test('one process never admits more requests than the limit in any second, and a steady load gets nearly the whole limit', () => {
  let nowMs = 0
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 400 })), { maxLength: 40 }),
      (perSecond, bursts) => {
        const limit = createRateLimiter(perSecond, () => nowMs)
        const passed: number[] = []
        for (const [requests, thenMs] of bursts) {
          for (let i = 0; i < requests; i++) if (isPassed(() => limit('merchant', () => {}))) passed.push(nowMs)
          nowMs += thenMs
        }
        const isTooMuch = passed.some((from, i) => (passed[i + perSecond] ?? Number.POSITIVE_INFINITY) - from < 1_000)
        expect(isTooMuch).toBe(false)
      },
    ),
    { numRuns: 100 },
  )
  const limit = createRateLimiter(50, () => nowMs)
  let passed = 0
  for (let ms = 0; ms < 10_000; ms++) {
    if (isPassed(() => limit('merchant', () => {}))) passed++
    nowMs++
  }
  // Tokens used close together become free together.
  expect(passed).toBeLessThanOrEqual(500)
  expect(passed).toBeGreaterThan(490)
})

test('requests with a rejected API key are rate-limited per IPv4 address and per IPv6 network', () => {
  const limit = createUnauthenticatedRateLimiter(2, elapsed)
  const isLetPass = (address: string) => isPassed(() => limit(address, () => {}))
  const passes = (...addresses: string[]) => addresses.map(isLetPass)
  expect(passes('10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.2')).toEqual([true, true, false, true])
  // The same machine by both protocols, and all addresses of a network of IPv6, are one caller.
  expect(passes('::ffff:10.0.0.2', '10.0.0.2')).toEqual([true, false])
  expect(passes('2001:db8::1', '2001:db8:0:0:ffff::2', '2001:db8::3')).toEqual([true, true, false])
  expect(passes('2001:db8:0:1::1', '::1', '::1', '::1')).toEqual([true, true, true, false])
  expect(passes('1:2:3:4:5:6:7:8', '1:2:3:4::', '1:2:3:4::8')).toEqual([true, true, false])
  expect(passes('9::2:3:4:5:6:7', '9:0:2:3::', '9:0:2:3::1')).toEqual([true, true, false])
  // An address that only ends like one of IPv4, or begins so, is none.
  expect(passes('7:7:7:7::ffff:10.0.0.9', '7:7:7:7::1', '7:7:7:7::2')).toEqual([true, true, false])
  expect(passes('::ffff:6:7', '::2', '0:0:0:0:5::')).toEqual([false, false, false])
  // Two networks whose groups have the same digits.
  expect(passes('1:23:4:5::', '1:23:4:5::', '12:3:4:5::')).toEqual([true, true, true])
})

test('client addresses beyond the first 10,000 share one limit until earlier addresses have expired', () => {
  const limit = createUnauthenticatedRateLimiter(2, elapsed)
  const isLetPass = (address: string) => isPassed(() => limit(address, () => {}))
  for (let i = 0; i < 10_000; i++) isLetPass(`10.1.${i >> 8}.${i & 255}`)
  const beyond = Array.from({ length: 100 }, (_, i) => isLetPass(`10.2.0.${i}`))
  expect(beyond.filter(Boolean)).toHaveLength(2)
  vi.advanceTimersByTime(1_000)
  expect([1, 2, 3].map((i) => isLetPass(`10.3.0.${i}`))).toEqual([true, true, true])
  // So is one that is full to the last place.
  const full = createUnauthenticatedRateLimiter(2, elapsed)
  for (let i = 0; i < 10_000; i++) full(`10.1.${i >> 8}.${i & 255}`, () => {})
  vi.advanceTimersByTime(1_000)
  for (let i = 0; i < 3; i++) expect(isPassed(() => full(`10.3.0.${i}`, () => {}))).toBe(true)
})

test('the RateLimit header of a response has the number of remaining requests; a rejection also has Retry-After', () => {
  const ask = (limiter: ReturnType<typeof createRateLimiter>) => {
    const headers: Record<string, string> = {}
    const fault = faultOf(() => limiter('one', (name, value) => (headers[name] = value)))
    return [headers, fault?.code, fault?.message]
  }
  const saying = (policy: string, left: number) => ({
    'ratelimit-policy': `"${policy}";q=2;w=1`,
    ratelimit: `"${policy}";r=${left};t=1`,
  })
  for (const [policy, limiter] of [
    ['default', createRateLimiter(2, elapsed)],
    ['refused', createUnauthenticatedRateLimiter(2, elapsed)],
  ] as const) {
    expect(ask(limiter)).toEqual([saying(policy, 1), undefined, undefined])
    expect(ask(limiter)).toEqual([saying(policy, 0), undefined, undefined])
    const refused = { ...saying(policy, 0), 'retry-after': '1' }
    for (let i = 0; i < 2; i++)
      expect(ask(limiter)).toEqual([refused, 'RATE_LIMITED', 'At most 2 requests a second are answered.'])
  }
})

test('a used rate-limit token is available again after 1 to 1.01 seconds', () => {
  let nowMs = 0
  const passesAt = (limiter: ReturnType<typeof createRateLimiter>, times: readonly number[]) =>
    times.map((at) => {
      nowMs = 100 + at
      return isPassed(() => limiter('one', () => {}))
    })
  const clock = () => nowMs
  expect(passesAt(createRateLimiter(2, clock), [0, 9, 999, 1_000, 1_008, 1_009, 1_009])).toEqual([
    ...[true, true, false, false, false, true, true],
  ])
  nowMs = 0
  expect(passesAt(createRateLimiter(2, clock), [0, 10, 999, 1_000, 1_000, 1_009, 1_010])).toEqual([
    ...[true, true, false, true, false, false, true],
  ])
})

test('the cleanup that runs every minute removes neither recently used rate-limit tokens nor tokens that a process holds', () => {
  let nowMs = 0
  const clock = () => nowMs
  const limit = createRateLimiter(1, clock)
  const isLetPass = (key: string) => isPassed(() => limit(key, () => {}))
  const shared = createSharedWindows(10, clock)
  expect(shared.exchange(1, { merchantId: 'one', unused: 0, wanted: 8 })).toEqual({ tokens: 8, left: 2 })
  nowMs = 59_999
  expect(isLetPass('one')).toBe(true)
  nowMs = 60_000
  expect([isLetPass('other'), isLetPass('one')]).toEqual([true, false])
  shared.exchange(2, { merchantId: 'other', unused: 0, wanted: 1 })
  expect(shared.exchange(2, { merchantId: 'one', unused: 0, wanted: 8 })).toEqual({ tokens: 2, left: 0 })
  shared.forget(1)
  expect(shared.exchange(3, { merchantId: 'one', unused: 0, wanted: 8 })).toEqual({ tokens: 0, left: 0 })
  nowMs += 1_000
  expect(shared.exchange(3, { merchantId: 'one', unused: 0, wanted: 9 })).toEqual({ tokens: 8, left: 0 })
  // Unused tokens are available immediately, used ones after a second.
  expect(shared.exchange(3, { merchantId: 'one', unused: 5, wanted: 9 })).toEqual({ tokens: 5, left: 0 })
})

/** One process among several, whose exchanges return the given results in order, and then the last result repeatedly. */
function oneProcess(perSecond: number, processes: number, results: (TokenExchangeResult | Error)[]) {
  const exchanges: TokenExchangeRequest[] = []
  const exchange = async (request: TokenExchangeRequest) => {
    exchanges.push(request)
    const result = results.length > 1 ? results.shift() : results[0]
    if (!result || result instanceof Error) throw result
    return result
  }
  const limiter = createSharedRateLimiter(perSecond, { exchange, processes }, elapsed)
  const ask = async () => {
    const headers: Record<string, string> = {}
    const setHeader = (name: string, value: string) => (headers[name] = value)
    const code = await (async () => limiter('one', setHeader))().then(
      () => null,
      (fault: DomainError) => fault.code ?? fault.message,
    )
    return [code, headers.ratelimit]
  }
  return { ask, exchanges }
}

test.each([
  [96, 3, 4],
  [96, 1, 12],
  [5, 2, 1],
])(
  'with a limit of %i requests per second and %i processes, a process acquires %i rate-limit tokens at a time',
  async (perSecond, processes, wanted) => {
    const { ask, exchanges } = oneProcess(perSecond, processes, [{ tokens: wanted, left: 7 }])
    for (let i = wanted; i > 0; i--) expect(await ask()).toEqual([null, `"default";r=${7 + i - 1};t=1`])
    expect(exchanges).toEqual([{ merchantId: 'one', unused: 0, wanted }])
    expect(await ask()).toEqual([null, `"default";r=${7 + wanted - 1};t=1`])
    expect(exchanges).toHaveLength(2)
  },
)

test('a process returns rate-limit tokens that were unused for 200 milliseconds, and does not retry a failed return', async () => {
  const { ask, exchanges } = oneProcess(96, 3, [{ tokens: 4, left: 7 }, new Error('lost'), { tokens: 2, left: 0 }])
  vi.advanceTimersByTime(100)
  await ask()
  // One look comes after 100 milliseconds and the next after 300.
  vi.advanceTimersByTime(100)
  expect(exchanges).toHaveLength(1)
  vi.advanceTimersByTime(200)
  expect(exchanges.slice(1)).toEqual([{ merchantId: 'one', unused: 3, wanted: 0 }])
  await nextTurn()
  vi.advanceTimersByTime(1_000)
  expect(exchanges).toHaveLength(2)
  expect(await ask()).toEqual([null, '"default";r=1;t=1'])
  // While it asks for more it gives nothing back.
  await ask()
  const asking = ask()
  vi.advanceTimersByTime(1_000)
  expect(exchanges.slice(3)).toEqual([{ merchantId: 'one', unused: 0, wanted: 4 }])
  await asking
})

test.each([
  [20, 50],
  [2, 100],
])(
  'with a limit of %i requests per second, a process that received no rate-limit tokens requests tokens again after %i milliseconds',
  async (perSecond, ms) => {
    const { ask, exchanges } = oneProcess(perSecond, 2, [{ tokens: 0, left: 0 }])
    const refused = ['RATE_LIMITED', '"default";r=0;t=1']
    expect(await ask()).toEqual(refused)
    vi.advanceTimersByTime(ms - 1)
    expect(await ask()).toEqual(refused)
    expect(exchanges).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect(await ask()).toEqual(refused)
    expect(exchanges).toHaveLength(2)
  },
)

test('a process returns rate-limit tokens that it has held for exactly 200 milliseconds', async () => {
  const { ask, exchanges } = oneProcess(96, 3, [{ tokens: 4, left: 7 }])
  await ask()
  vi.advanceTimersByTime(200)
  expect(exchanges.slice(1)).toEqual([{ merchantId: 'one', unused: 3, wanted: 0 }])
})

test('returning unused rate-limit tokens does not delay the time at which used tokens become available again', () => {
  const { exchange } = createSharedWindows(10, elapsed)
  const ask = (unused: number, wanted: number) => exchange(1, { merchantId: 'one', unused, wanted }).tokens
  expect(ask(0, 2)).toBe(2)
  vi.advanceTimersByTime(5)
  expect(ask(0, 3)).toBe(3)
  vi.advanceTimersByTime(4)
  expect(ask(3, 0)).toBe(0)
  vi.advanceTimersByTime(996)
  expect(ask(0, 10)).toBe(10)
})

test('a request fails if its process cannot obtain rate-limit tokens, and the next request makes another attempt', async () => {
  const { ask } = oneProcess(96, 3, [new Error('no writer'), { tokens: 1, left: 0 }])
  expect(await ask()).toEqual(['no writer', undefined])
  expect(await ask()).toEqual([null, '"default";r=0;t=1'])
})

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

function faultOf(ask: () => unknown): DomainError | null {
  try {
    ask()
    return null
  } catch (error) {
    return error as DomainError
  }
}

function isPassed(ask: () => unknown): boolean {
  try {
    ask()
    return true
  } catch (error) {
    if (error instanceof DomainError) return false
    throw error
  }
}

test('a merchant can use its whole limit whether its requests go to one process or to several', async () => {
  for (const holders of [[0], [0, 1, 2]]) {
    const { isLetPass } = processes(3, 96)
    const results = Array.from({ length: 200 }, (_, i) => isLetPass(holders[i % holders.length] as number))
    expect((await Promise.all(results)).filter(Boolean)).toHaveLength(96)
  }
})

test('rate-limit tokens that a process does not use within 200 milliseconds become available to other processes', async () => {
  const { isLetPass } = processes(2, 100)
  await isLetPass(0)
  vi.advanceTimersByTime(400)
  const passed = await Promise.all(Array.from({ length: 150 }, () => isLetPass(1)))
  // The used token is free again a second after its report.
  expect(passed.filter(Boolean)).toHaveLength(99)
  vi.advanceTimersByTime(1_000)
  expect(await isLetPass(1)).toBe(true)
})

test('rate-limit tokens of a process that died count as used for one second', async () => {
  const { isLetPass, windows } = processes(2, 16)
  await isLetPass(0)
  windows.forget(0)
  expect((await Promise.all(Array.from({ length: 40 }, () => isLetPass(1)))).filter(Boolean)).toHaveLength(15)
  vi.advanceTimersByTime(1_000)
  expect((await Promise.all(Array.from({ length: 40 }, () => isLetPass(1)))).filter(Boolean)).toHaveLength(16)
})

test('the rejection of 5,000 requests causes at most one exchange of rate-limit tokens', async () => {
  const { isLetPass, questions } = processes(2, 10)
  await Promise.all(Array.from({ length: 20 }, () => isLetPass(0)))
  const before = questions()
  await Promise.all(Array.from({ length: 5_000 }, () => isLetPass(0)))
  expect(questions() - before).toBeLessThanOrEqual(1)
})

test('each merchant has its own limit', async () => {
  const { isLetPass } = processes(2, 1)
  expect(await isLetPass(0, 'one')).toBe(true)
  expect(await isLetPass(1, 'one')).toBe(false)
  expect(await isLetPass(1, 'other')).toBe(true)
})
