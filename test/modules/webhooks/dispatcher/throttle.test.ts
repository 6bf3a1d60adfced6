import { describe, expect, test } from 'vitest'
import type { IdleCapacity } from '../../../../src/modules/webhooks/dispatcher/throttle.ts'
import { createThrottle, nextRate } from '../../../../src/modules/webhooks/dispatcher/throttle.ts'
import { everyEngine } from '../../../support/app.ts'
import { startWorld } from './support/world.ts'

const free: IdleCapacity = { machine: 1, loop: 1 }
const full: IdleCapacity = { machine: 0, loop: 0 }

/** A throttle with a clock of the test's own, which tries every millisecond; how many begin in a time. */
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

describe('how many attempts are begun a second', () => {
  test.each([
    ['grows while the machine and its own thread have room', 100, free, 1, 120],
    ['shrinks where the machine has none', 100, { machine: 0.39, loop: 1 }, 1, 60],
    ['shrinks where its thread has none', 100, { machine: 1, loop: 0.19 }, 1, 60],
    ['grows as often as there was time to', 100, free, 2, 144],
    ['shrinks as often as there was time to', 1_000, full, 2, 360],
    ['is never less than 20', 30, full, 1, 20],
    ['is 20 at once where there was no room for long', 5_000, full, 100, 20],
    ['is not counted any more beyond 5,000', 4_900, free, 1, 5_000],
  ])('%s', (_, rate, room, windows, next) => {
    expect(nextRate(rate, room, windows)).toBeCloseTo(next, 9)
  })

  test('is what it may be while there is room', () => {
    expect(startThrottle(() => free).begunIn(10)).toBe(1_000)
  })

  test('falls to 20 soon when there is none, and stays there', () => {
    const { begunIn } = startThrottle(() => full)
    begunIn(2_000)
    expect([begunIn(1_000), begunIn(1_000), begunIn(10_000)]).toEqual([20, 20, 200])
  })

  test('is free again soon after', () => {
    let room = full
    const { begunIn } = startThrottle(() => room)
    begunIn(2_000)
    room = free
    begunIn(3_000)
    expect(begunIn(10)).toBe(1_000)
  })

  test('what was not begun for long is not made up for', () => {
    const { begunIn } = startThrottle(() => full)
    begunIn(2_000)
    begunIn(60_000, 0)
    expect(begunIn(100)).toBeLessThanOrEqual(4)
  })

  test('tells how long to wait', () => {
    const { begunIn, waitMs } = startThrottle(() => full)
    begunIn(2_000)
    expect(waitMs()).toBeGreaterThan(0)
    expect(waitMs()).toBeLessThanOrEqual(100)
  })
})

test('measures the machine and this process', () => {
  const { waitMs, recordStart: count } = createThrottle()
  // Nothing was measured yet, so nothing waits.
  expect(waitMs()).toBe(0)
  count()
  expect(waitMs()).toBe(0)
})

describe.each(everyEngine)('what is throttled on %s', (engine) => {
  test('is sent all the same, one whenever one may begin', async () => {
    const { dispatch, endpoint, until, customers, receiver } = await startWorld(engine)
    const { url, sequences } = await receiver()
    await endpoint(url)
    await customers(20)
    const begun: number[] = []
    const waits: number[] = []
    // One, and then none until somebody has waited for it.
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
