import fc from 'fast-check'
import { expect, test } from 'vitest'
import { timestamp } from '../../src/core/ids-and-clock.ts'
import type { Reader } from '../../src/database/query.ts'
import type { SequenceMark } from '../../src/lists/list-queries.ts'
import type { CreatedRange } from '../../src/lists/time-range.ts'
import { findSpan } from '../../src/lists/time-range.ts'
import { maxCountedRows } from '../../src/lists/totals.ts'
import { customers } from '../../src/modules/customers/list.ts'

const always: CreatedRange = { createdFrom: null, createdBefore: null }
const start = Date.parse('2026-01-01T00:00:00.000Z')

/**
 * The rows of a time among these, oldest first, within the span that the search returns; and the number of its
 * reads.
 */
async function rowsOf(marks: readonly SequenceMark[], created: CreatedRange) {
  const looks: number[] = []
  const { above, below } = await findSpan(created, async (fromSequence) => {
    looks.push(fromSequence)
    return lastAtOrBelow(marks, fromSequence)
  })
  const { createdFrom, createdBefore } = created
  const rows = marks.filter(
    ({ sequence, createdAt }) =>
      sequence > above &&
      sequence < below &&
      (createdFrom === null || createdAt >= createdFrom) &&
      (createdBefore === null || createdAt < createdBefore),
  )
  return { rows, looks, span: below - above }
}

function lastAtOrBelow(marks: readonly SequenceMark[], fromSequence: number): SequenceMark | null {
  let [low, high] = [0, marks.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((marks[middle] as SequenceMark).sequence <= fromSequence) low = middle + 1
    else high = middle
  }
  return marks[low - 1] ?? null
}

test('the search for a time range among a million rows needs at most ten reads', async () => {
  const marks = Array.from({ length: 1_000_000 }, (_, i) => ({
    sequence: i + 1,
    createdAt: timestamp(start + i * 1_000),
  }))
  const from = timestamp(start + 700_000_000)
  const { rows, looks, span } = await rowsOf(marks, {
    createdFrom: from,
    createdBefore: timestamp(start + 700_003_000),
  })

  expect(rows.map(({ sequence }) => sequence)).toEqual([700_001, 700_002, 700_003])
  expect(span).toBeLessThan(200)
  expect(looks.length).toBeLessThanOrEqual(10)
})

test('the search for a time range finds every row, despite gaps in the sequence numbers and clocks that differ by a minute', async () => {
  const gap = fc.record({
    numbers: fc.integer({ min: 1, max: 40 }),
    ms: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 200_000 })),
    late: fc.integer({ min: 0, max: 59_999 }),
  })
  const bound = fc.option(fc.integer({ min: -100_000, max: 4_000_000 }))

  await fc.assert(
    fc.asyncProperty(fc.array(gap, { maxLength: 60 }), bound, bound, async (gaps, from, before) => {
      let [sequence, time] = [0, start]
      const marks = gaps.map(({ numbers, ms, late }) => {
        sequence += numbers
        time += ms
        return { sequence, createdAt: timestamp(time - late) }
      })
      const createdFrom = from === null ? null : timestamp(start + from)
      const createdBefore = before === null ? null : timestamp(start + before)
      const expected = marks.filter(
        ({ createdAt }) =>
          (createdFrom === null || createdAt >= createdFrom) && (createdBefore === null || createdAt < createdBefore),
      )

      const { rows } = await rowsOf(marks, { createdFrom, createdBefore })

      expect(rows).toEqual(expected)
    }),
    { numRuns: 500 },
  )
})

test('a list without a time filter executes no time search', async () => {
  const { rows, looks } = await rowsOf([{ sequence: 1, createdAt: timestamp(start) }], always)
  expect(rows).toHaveLength(1)
  expect(looks).toEqual([])
})

/**
 * The total of a list of customers, and the maximum number of rows that its queries may count, on a database
 * that returns these counts.
 */
async function totalOf(input: object, counts: { rowCount: number; latest: number }) {
  const limits: unknown[] = []
  const mark = { sequence: 1, createdAt: timestamp(start) }
  const execute = async (_: unknown, params: object) => {
    const { limit } = params as { limit?: number }
    if (limit === maxCountedRows + 1) limits.push(limit)
    return [{ ...mark, latest: counts.latest, rowCount: Math.min(counts.rowCount, limit ?? 0) }]
  }
  const db = { execute } as unknown as Reader
  const slice = await customers.slice({ db: db as never, merchantId: '' }, { ...input, first: 0 })
  return { total: await slice.total(), limits }
}

test.each([
  [0, 0],
  [maxCountedRows, maxCountedRows],
  [maxCountedRows + 1, null],
])('the total of %d matching rows is %s, and counting stops one row above the maximum', async (rowCount, total) => {
  const counted = await totalOf({ status: 'active' }, { rowCount, latest: 1_000_000 })
  expect(counted).toEqual({ total, limits: [maxCountedRows + 1] })
})

test('a list with a stored total counts rows only if there is a time filter', async () => {
  const counts = { rowCount: 7, latest: 1_000_000 }
  expect(await totalOf({}, counts)).toEqual({ total: 1_000_000, limits: [] })
  expect((await totalOf({ createdFrom: timestamp(start) }, counts)).total).toBe(7)
})
