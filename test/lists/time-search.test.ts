import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { timestamp } from '../../src/core/ids-and-clock.ts'
import { findSpan } from '../../src/lists/time-range.ts'
import { findLastBefore } from '../../src/lists/time-search.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')

type Row = { readonly sequence: number; readonly createdAt: string }

/** Rows whose numbers have gaps, with equal times, silences of weeks, and times that go back by up to `maxSkewMs`. */
function arbitraryRows({ maxSkewMs }: { maxSkewMs: number }) {
  const gap = fc.record({
    numbers: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40 }), fc.constant(1_000_000)),
    ms: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_000 }), fc.constant(3_000_000_000)),
    lateMs: fc.integer({ min: 0, max: maxSkewMs }),
  })
  return fc.array(gap, { maxLength: 60 }).map((gaps) => {
    let [sequence, time] = [0, start]
    return gaps.map(({ numbers, ms, lateMs }): Row => {
      sequence += numbers
      time += ms
      return { sequence, createdAt: timestamp(time - lateMs) }
    })
  })
}

function lastUpTo(rows: readonly Row[], sequence: number): Row | null {
  return rows.findLast((row) => row.sequence <= sequence) ?? null
}

/** Returns the results of a search, and the sequence numbers that each round read. */
async function search(times: readonly string[], read: (sequence: number) => Row | null) {
  const rounds: (readonly number[])[] = []
  const results = await findLastBefore(times, (sequences) => {
    rounds.push(sequences)
    return sequences.map(read)
  })
  return { results, rounds }
}

/** Returns the numbers of reads in each round of a search among rows without gaps in their numbers. */
async function roundsAmong(count: number, times: readonly string[], timeOf: (sequence: number) => number) {
  const { rounds } = await search(times, (sequence) => {
    const number = Math.min(sequence, count)
    return { sequence: number, createdAt: timestamp(timeOf(number)) }
  })
  return rounds.map(({ length }) => length)
}

const dayMs = 86_400_000
const ninetyDaysMs = 90 * dayMs
const days = Array.from({ length: 30 }, (_, day) => timestamp(start + (60 + day) * dayMs))
const arbitraryTimes = fc.array(
  fc.integer({ min: -1, max: 9_000_000_000 }).map((ms) => timestamp(start + ms)),
  { maxLength: 5 },
)

describe('the search for the last row before a time', () => {
  test('finds the row before each time, despite gaps in the sequence numbers, equal times and long gaps in time', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryRows({ maxSkewMs: 0 }), arbitraryTimes, async (rows, others) => {
        const times = [...others, ...rows.map(({ createdAt }) => createdAt)]
        const { results } = await search(times, (sequence) => lastUpTo(rows, sequence))
        expect(results).toEqual(times.map((time) => rows.findLast(({ createdAt }) => createdAt < time) ?? null))
      }),
      { numRuns: 500 },
    )
  })

  test('finds an earlier row that precedes a later row, if the clock was set back between rows', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryRows({ maxSkewMs: 4_000_000_000 }), arbitraryTimes, async (rows, times) => {
        const { results } = await search(times, (sequence) => lastUpTo(rows, sequence))
        for (const [place, row] of results.entries()) {
          const time = times[place] as string
          const next = rows[row === null ? 0 : rows.indexOf(row) + 1]
          expect(row === null || row.createdAt < time).toBe(true)
          expect(next === undefined || next.createdAt >= time).toBe(true)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('needs as many rounds among ten million rows as among ten thousand, if rows are evenly spread', async () => {
    const roundsOf = (count: number, times: readonly string[]) =>
      roundsAmong(count, times, (sequence) => start + (sequence / count) * ninetyDaysMs)
    for (const times of [days, [timestamp(start + 12_345_678)]]) {
      const rounds = await roundsOf(10_000_000, times)
      expect(rounds).toEqual(await roundsOf(10_000, times))
      expect(rounds.length).toBeLessThanOrEqual(4)
    }
  })

  test('needs fewer than 16 rounds among ten million rows, if the number of rows per day grows a hundredfold', async () => {
    const count = 10_000_000
    const growth = Math.log(100)
    const timeOf = (sequence: number) => start + (ninetyDaysMs / growth) * Math.log1p((sequence / count) * 99)
    const time = fc.integer({ min: 1, max: ninetyDaysMs }).map((ms) => timestamp(start + ms))
    await fc.assert(
      fc.asyncProperty(time, async (time) => {
        expect((await roundsAmong(count, [time], timeOf)).length).toBeLessThan(16)
      }),
    )
  })

  test('needs at most 16 rounds more than a bisection, for any distribution of the rows over time', async () => {
    const count = 10_000_000
    const bisectionRounds = 1 + Math.ceil(Math.log2(count))
    const exponent = fc.integer({ min: -8, max: 8 }).map((power) => 2 ** power)
    const bursts = fc.integer({ min: 1, max: 5_000 })
    await fc.assert(
      fc.asyncProperty(exponent, bursts, fc.boolean(), arbitraryTimes, async (power, burstCount, isBurst, times) => {
        const timeOf = (sequence: number) => {
          const share = (sequence / count) ** power
          return start + ninetyDaysMs * (isBurst ? Math.floor(share * burstCount) / burstCount : share)
        }
        expect((await roundsAmong(count, times, timeOf)).length).toBeLessThanOrEqual(bisectionRounds + 16)
      }),
      { numRuns: 200 },
    )
  })

  test('needs a single round if every row is older than the times, or none', async () => {
    const timeOf = (sequence: number) => start + sequence
    expect(await roundsAmong(1_000_000, [timestamp(start), timestamp(start + 1_000_001)], timeOf)).toEqual([2])
  })
})

test('a time range without a start reads no rows to find its start', async () => {
  const first = 1_000_000
  const timeOf = (sequence: number) => timestamp(start + (sequence - first) * dayMs)
  let reads = 0
  const markAt = (sequence: number) => {
    reads++
    const last = Math.min(sequence, first + 9)
    return last < first ? null : { sequence: last, createdAt: timeOf(last) }
  }
  const range = { createdFrom: null, createdBefore: timeOf(first + 20) }
  expect(await findSpan(range, markAt)).toEqual({ above: 0, below: first + 10 })
  expect(reads).toBe(2)
})
