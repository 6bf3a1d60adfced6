import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRecordClock, createUuidV7Generator, parseUuid, timestamp } from '../../src/core/ids-and-clock.ts'

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const nowMs = Date.parse('2026-03-01T12:00:00.000Z')

const millisecondOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** One id per time, from one source. */
function idsAt(times: readonly number[]): string[] {
  const newId = createUuidV7Generator()
  return times.map(newId)
}

function expectStrictlyRising(ids: readonly string[]): void {
  expect(ids.findIndex((id, i) => i > 0 && id <= (ids[i - 1] as string))).toBe(-1)
}

describe('an id', () => {
  test('is a UUIDv7 that begins with its time in milliseconds', () => {
    const ids = idsAt([nowMs, nowMs + 1, nowMs + 1, 2 ** 47])

    for (const id of ids) expect(id).toMatch(form)
    expect(ids.map(millisecondOf)).toEqual([nowMs, nowMs + 1, nowMs + 1, 2 ** 47])
  })

  test('is parsed in upper and lower case, and any other text is rejected', () => {
    const [id] = idsAt([nowMs]) as [string]

    expect(parseUuid(id)).toBe(id)
    expect(parseUuid(id.toUpperCase())).toBe(id)
    for (const other of [`${id}0`, ` ${id}`, id.replaceAll('-', ''), `{${id}}`, '', null, undefined, 7, [id]]) {
      expect(parseUuid(other)).toBeNull()
    }
  })
})

describe('the ids of one generator', () => {
  test('increase within one millisecond, even beyond the capacity of the counter', () => {
    const ids = idsAt(Array(20_000).fill(nowMs))

    expectStrictlyRising(ids)
    for (const id of ids) expect(id).toMatch(form)
    // Ids beyond the counter's capacity borrow from the next milliseconds: 2,049 to 4,096 ids fit in each.
    expect(millisecondOf(ids.at(-1) as string) - nowMs).toBeLessThan(10)
  })

  test('increase in a millisecond that an overflow of the counter has already used', () => {
    expectStrictlyRising(idsAt([...Array(10_000).fill(nowMs), nowMs + 1, nowMs + 1, nowMs + 2, nowMs + 3, nowMs + 9]))
  })

  test('increase when the clock steps back', () => {
    const ids = idsAt([nowMs, nowMs - 1, nowMs - 3_600_000, 0, nowMs, nowMs + 1])

    expectStrictlyRising(ids)
    expect(ids.map(millisecondOf)).toEqual([nowMs, nowMs, nowMs, nowMs, nowMs, nowMs + 1])
  })

  test('increase for any sequence of clock readings', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: nowMs - 20, max: nowMs + 20 }), { minLength: 2, maxLength: 500 }),
        (times) => expectStrictlyRising(idsAt(times)),
      ),
    )
  })
})

test('ids of independent generators are unique', () => {
  const ids = Array.from({ length: 200 }, () => idsAt(Array(500).fill(nowMs))).flat()

  expect(new Set(ids).size).toBe(100_000)
})

test('the random part of ids is uniform over all its bits', () => {
  const ids = idsAt(Array(4_000).fill(nowMs))
  const bits = ids.map((id) => BigInt(`0x${id.slice(19).replace('-', '')}`))

  for (let bit = 0n; bit < 62n; bit++) {
    const ones = bits.filter((value) => (value >> bit) & 1n).length
    // Seven standard deviations to either side of the mean.
    expect(Math.abs(ones - 2_000)).toBeLessThan(222)
  }
})

describe('the monotonic clock', () => {
  test('advances with the system clock, and does not go back when the system clock does', () => {
    const times = [5, 7, 6, 0, 7, 8, 3]
    const steady = createRecordClock(() => times.shift() as number)

    expect([1, 2, 3, 4, 5, 6, 7].map(() => steady())).toEqual([5, 7, 7, 7, 7, 8, 8])
  })

  test('reads the system clock by default', () => {
    const before = Date.now()
    const read = createRecordClock()()

    expect(read).toBeGreaterThanOrEqual(before)
    expect(read).toBeLessThanOrEqual(Date.now())
  })
})

test('a timestamp is UTC with milliseconds', () => {
  expect(timestamp(nowMs)).toBe('2026-03-01T12:00:00.000Z')
  expect(timestamp(nowMs + 7)).toBe('2026-03-01T12:00:00.007Z')
})
