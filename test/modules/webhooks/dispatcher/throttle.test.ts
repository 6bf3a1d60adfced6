import { describe, expect, test } from 'vitest'
import type { IdleCapacity } from '../../../../src/modules/webhooks/dispatcher/throttle.ts'
import { createIdleMeter, createThrottle, nextRate } from '../../../../src/modules/webhooks/dispatcher/throttle.ts'
import { everyEngine } from '../../../support/app.ts'
import { startWorld } from './support/world.ts'

const free: IdleCapacity = { machine: 1, loop: 1 }
const full: IdleCapacity = { machine: 0, loop: 0 }

/** Runs a throttle with a fake clock, which tries every millisecond, and counts the started attempts. */
function startThrottle(room: () => IdleCapacity) {
  let time = 7_000
  const { waitMs, recordStart: count } = createThrottle(room, () => time)
  const begunIn = (ms: number, most = 100) => {
    let begun = 0
    for (const end = time + ms; time < end; time++) {
      for (let tries = 0; tries < most && waitMs() === 0; tries++, begun++) count()
    }
    return begun
  }
  const pass = (ms: number) => {
    time += ms
  }
  return { begunIn, waitMs, count, pass }
}

describe('the throttled rate of webhook attempts', () => {
  test.each([
    ['grows while the machine and the event loop have idle capacity', 100, free, 1, 120],
    ['grows if both idle shares are exactly the required minimum', 100, { machine: 0.4, loop: 0.2 }, 1, 120],
    ['shrinks if the machine has too little idle capacity', 100, { machine: 0.39, loop: 1 }, 1, 60],
    ['shrinks if the event loop has too little idle capacity', 100, { machine: 1, loop: 0.19 }, 1, 60],
    ['grows once for each elapsed interval', 100, free, 2, 144],
    ['shrinks once for each elapsed interval', 1_000, full, 2, 360],
    ['is never less than 20', 30, full, 1, 20],
    ['is 20 immediately after a long time without capacity', 5_000, full, 100, 20],
    ['is never more than 5,000', 4_900, free, 1, 5_000],
  ])('%s', (_, rate, room, windows, next) => {
    expect(nextRate(rate, room, windows)).toBeCloseTo(next, 9)
  })

  test('is the maximum while the machine has capacity', () => {
    expect(startThrottle(() => free).begunIn(10)).toBe(1_000)
  })

  test('falls to 20 attempts a second if the machine has no capacity, and falls no further', () => {
    const { begunIn } = startThrottle(() => full)
    begunIn(2_000)
    expect([begunIn(1_000), begunIn(1_000), begunIn(10_000)]).toEqual([20, 20, 200])
  })

  test('reaches the maximum again soon after capacity returns', () => {
    let room = full
    const { begunIn } = startThrottle(() => room)
    begunIn(2_000)
    room = free
    begunIn(3_000)
    expect(begunIn(10)).toBe(1_000)
  })

  test('is not exceeded to catch up after an idle time', () => {
    const { begunIn } = startThrottle(() => full)
    begunIn(2_000)
    begunIn(60_000, 0)
    expect(begunIn(100)).toBeLessThanOrEqual(4)
  })

  test('shrinks step by step, once every 100 milliseconds', () => {
    let measurements = 0
    const { begunIn, waitMs, pass } = startThrottle(() => {
      measurements++
      return full
    })
    begunIn(101)
    expect(measurements).toBe(1)
    pass(99)
    waitMs()
    expect(measurements).toBe(2)
    begunIn(100)
    // 5,000 a second was reduced to 60 % three times.
    expect([begunIn(100), begunIn(100)]).toEqual([108, 65])
  })

  test('allows a burst after 100 milliseconds without an attempt', () => {
    const { begunIn, waitMs, count, pass } = startThrottle(() => full)
    begunIn(2_000)
    while (waitMs() === 0) count()
    count()
    // At 20 a second, a burst is two attempts.
    expect(waitMs()).toBe(100)
    pass(25)
    expect(waitMs()).toBe(75)
    pass(25)
    expect(waitMs()).toBe(0)
    count()
    expect(waitMs()).toBe(100)
    pass(100)
    for (let attempts = 0; attempts < 2; attempts++) {
      expect(waitMs()).toBe(0)
      count()
    }
    expect(waitMs()).toBe(100)
  })
})

describe('the measured idle share', () => {
  test('of the machine is the idle share of processor time since the previous measurement', () => {
    let processors = [1_000, 5_000].map((idle) => ({ times: { idle, user: 0, sys: 0, nice: 0, irq: 0 } }))
    const measureIdle = createIdleMeter(() => processors)
    processors = [
      { times: { idle: 1_010, user: 10, sys: 20, nice: 30, irq: 40 } },
      { times: { idle: 5_040, user: 5, sys: 15, nice: 20, irq: 10 } },
    ]
    expect(measureIdle().machine).toBe(0.25)
    processors = [
      { times: { idle: 1_035, user: 60, sys: 20, nice: 30, irq: 40 } },
      { times: { idle: 5_065, user: 5, sys: 15, nice: 20, irq: 10 } },
    ]
    expect(measureIdle().machine).toBe(0.5)
  })

  test('of the machine is 1 if the system reports no processor times', () => {
    expect(createIdleMeter(() => [])().machine).toBe(1)
  })

  test('of the event loop is zero while the loop is busy, and greater while it waits', async () => {
    const measureIdle = createIdleMeter()
    const startedAt = performance.now()
    while (performance.now() - startedAt < 20);
    expect(measureIdle().loop).toBeLessThan(0.01)
    await expect.poll(() => measureIdle().loop).toBeGreaterThan(0.01)
  })
})

test('a throttle that measures the real machine allows attempts before its first measurement', () => {
  const { waitMs, recordStart: count } = createThrottle()
  // Without a measurement nothing waits.
  expect(waitMs()).toBe(0)
  count()
  expect(waitMs()).toBe(0)
})

describe.each(everyEngine)('a throttled delivery on %s', (engine) => {
  test('is sent as soon as the throttle allows', async () => {
    const { dispatch, endpoint, until, customers, receiver } = await startWorld(engine)
    const { url, sequences } = await receiver()
    await endpoint(url)
    await customers(20)
    const begun: number[] = []
    const waits: number[] = []
    // One attempt, and then none until a caller has waited.
    const waitMs = () => {
      if (begun.length <= waits.length) return 0
      return waits.push(1)
    }
    dispatch({ throttle: { waitMs, recordStart: () => begun.push(waits.length) } })
    await until(() => sequences().length === 20)
    expect(begun).toEqual(Array.from({ length: 20 }, (_, place) => place))
    expect(sequences().sort((one, other) => one - other)).toEqual(begun.map((place) => place + 1))
  })
})
