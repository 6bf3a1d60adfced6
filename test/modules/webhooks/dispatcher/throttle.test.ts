import { describe, expect, test } from 'vitest'
import type { IdleCapacity } from '../../../../src/modules/webhooks/dispatcher/throttle.ts'
import { createThrottle, nextRate } from '../../../../src/modules/webhooks/dispatcher/throttle.ts'
import { everyEngine } from '../../../support/app.ts'
import { startWorld } from './support/world.ts'

const free: IdleCapacity = { machine: 1, loop: 1 }
const full: IdleCapacity = { machine: 0, loop: 0 }

/** Runs a throttle with a fake clock, which tries every millisecond, and counts the started attempts. */
function startThrottle(room: () => IdleCapacity) {
  let time = 0
  const { waitMs, recordStart: count } = createThrottle(room, () => time)
  const begunIn = (ms: number, most = 100) => {
    let begun = 0
    for (const end = time + ms; time < end; time++) {
      for (let tries = 0; tries < most && waitMs() === 0; tries++, begun++) count()
    }
    return begun
  }
  return { begunIn, waitMs }
}

describe('the throttled rate of webhook attempts', () => {
  test.each([
    ['grows while the machine and the event loop have idle capacity', 100, free, 1, 120],
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

  test('falls to 20 a second without capacity, and stays there', () => {
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

  test('determines the wait for the next attempt', () => {
    const { begunIn, waitMs } = startThrottle(() => full)
    begunIn(2_000)
    expect(waitMs()).toBeGreaterThan(0)
    expect(waitMs()).toBeLessThanOrEqual(100)
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
