import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Created, Mark } from '../../src/database/created-range.ts'
import { countLimit, sequencedList } from '../../src/database/created-range.ts'
import { timestamp } from '../../src/ids.ts'
import { sliceOf } from '../../src/slice.ts'

const always: Created = { createdFrom: null, createdBefore: null }
const firstPage = { first: null, after: null, last: null, before: null }
const start = Date.parse('2026-01-01T00:00:00.000Z')

/** A list of these rows, oldest first, and how often it was looked at for a time. */
function listOf(marks: readonly Mark[], created: Created) {
  const looks: number[] = []
  const list = sequencedList<Mark>({
    name: [],
    created,
    sequenceOf: ({ sequence }) => sequence,
    markAt: async (fromSequence) => {
      looks.push(fromSequence)
      return lastAtOrBelow(marks, fromSequence)
    },
    rows: async ({ above, below, limit, createdFrom = '', createdBefore = '9' }) => {
      const within = marks.filter(
        ({ sequence, createdAt }) =>
          sequence > above && sequence < below && createdAt >= createdFrom && createdAt < createdBefore,
      )
      return within.toReversed().slice(0, limit)
    },
    count: async () => [],
  })
  return { list, looks }
}

function lastAtOrBelow(marks: readonly Mark[], fromSequence: number): Mark | null {
  let [low, high] = [0, marks.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((marks[middle] as Mark).sequence <= fromSequence) low = middle + 1
    else high = middle
  }
  return marks[low - 1] ?? null
}

test('a time is found among a million rows in about twenty looks', async () => {
  const marks = Array.from({ length: 1_000_000 }, (_, i) => ({
    sequence: i + 1,
    createdAt: timestamp(start + i * 1_000),
  }))
  const from = timestamp(start + 700_000_000)
  const { list, looks } = listOf(marks, { createdFrom: from, createdBefore: timestamp(start + 700_003_000) })

  const { items } = await sliceOf(list, firstPage)

  expect(items.map(({ sequence }) => sequence)).toEqual([700_003, 700_002, 700_001])
  expect(looks.length).toBeLessThan(45)
})

test('no row of a time is missed, with gaps in the numbers and clocks that differ by a minute', async () => {
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

      const { list } = listOf(marks, { createdFrom, createdBefore })
      const { items } = await sliceOf(list, { ...firstPage, first: 100 })

      expect(items).toEqual(expected.toReversed())
    }),
    { numRuns: 500 },
  )
})

test('without a time nothing is looked for', async () => {
  const { list, looks } = listOf([{ sequence: 1, createdAt: timestamp(start) }], always)
  expect((await sliceOf(list, firstPage)).items).toHaveLength(1)
  expect(looks).toEqual([])
})

test.each([
  [0, 0],
  [countLimit, countLimit],
  [countLimit + 1, null],
])('of %d rows that are counted the total is %s, and no more are looked at', async (rowCount, total) => {
  const limits: number[] = []
  const list = sequencedList<Mark>({
    name: [],
    created: always,
    sequenceOf: ({ sequence }) => sequence,
    markAt: async () => null,
    rows: async () => [],
    count: async ({ limit }) => {
      limits.push(limit)
      return [{ rowCount: Math.min(rowCount, limit) }]
    },
  })
  expect(await list.total()).toBe(total)
  expect(limits).toEqual([countLimit + 1])
})

test('a total that is kept is not counted, unless a time narrows it', async () => {
  const marks = [{ sequence: 1, createdAt: timestamp(start) }]
  const kept = (created: Created) =>
    sequencedList<Mark>({
      name: [],
      created,
      sequenceOf: ({ sequence }) => sequence,
      markAt: async () => marks[0] ?? null,
      rows: async () => [],
      count: async () => [{ rowCount: 7 }],
      keptTotal: async () => 1_000_000,
    })
  expect(await kept(always).total()).toBe(1_000_000)
  expect(await kept({ ...always, createdFrom: timestamp(start) }).total()).toBe(7)
})
