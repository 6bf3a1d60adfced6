import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readSlices } from '../../src/lists/slice.ts'
import { entries } from '../../src/modules/ledger/list.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import type { Context, Service } from '../../src/operations/context.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { domainErrorOf } from '../support/domain-error-of.ts'
import type { Browsed, List, Row, World } from './lists.ts'
import { buildWorld, everyList, rowsBefore } from './lists.ts'

const start = Date.parse('2026-03-01T00:00:00.000Z')

/** Milliseconds between consecutive rows: some at the same moment, some further apart than clocks may differ. */
const steps = [0, 1, 7_000, 0, 95_000, 400_000, 3]

/**
 * A list of two merchants with alternating rows. Two processes whose clocks differ by 50 seconds write it, so a
 * later number may have an earlier time.
 */
async function startList(engine: Engine, list: List, size: number) {
  let at = start
  const app = await startApp(engine, { clock: () => at })
  const late = createService({ db: app.db, mode: 'sandbox', clock: () => at - 50_000 })
  const other = await app.otherMerchant()
  // The process whose clock is ahead set the rates.
  at += 50_000
  const worlds = { ours: await buildWorld(late, app.merchant.id), theirs: await buildWorld(late, other.id) }
  const add = (world: World, service: Service, i: number) =>
    list.add(createContext(service, world.merchantId), world, i)

  const context = app.context()
  const rows = await rowsBefore(list, context, worlds.ours)
  const foreign: Row[] = []
  for (let i = 0; i < size; i++) {
    at += steps[i % steps.length] ?? 0
    const service = i % 3 === 1 && !list.isShared ? late : app.service
    rows.push(await add(worlds.ours, service, i))
    if (!list.isShared) foreign.push(await add(worlds.theirs, service, i))
  }
  const otherContext = createContext(app.service, other.id)
  return { app, list, context, otherContext, ...worlds, rows, foreign }
}

type Started = Awaited<ReturnType<typeof startList>>

const browse = ({ list, context, ours }: Pick<Started, 'list' | 'context' | 'ours'>, input: object) =>
  list.browse(context, ours, input)

const idsOf = (list: List, slice: Browsed) => slice.items.map((item) => list.rowOf(item as never).id)

const cursorOf = (slice: Browsed, end: 'first' | 'last') => {
  const item = end === 'first' ? slice.items[0] : slice.items.at(-1)
  return item === undefined ? null : slice.cursorOf(item as never)
}

/**
 * Pages through a list from one end with the given sizes in rotation, and compares each slice with that of an
 * array.
 */
async function walk(
  started: Started,
  filter: object,
  expected: readonly string[],
  from: 'first' | 'last',
  sizes: number[],
) {
  const isForward = from === 'first'
  let cursor: string | null = null
  let done = 0
  for (let i = 0; i === 0 || (done < expected.length && i < 300); i++) {
    const size = sizes[i % sizes.length] ?? 1
    const slice: Browsed = await browse(started, {
      ...filter,
      [from]: size,
      [isForward ? 'after' : 'before']: cursor,
    })
    const [begin, end] = isForward
      ? [done, Math.min(done + size, expected.length)]
      : [Math.max(expected.length - done - size, 0), expected.length - done]
    expect(idsOf(started.list, slice)).toEqual(expected.slice(begin, end))
    expect([slice.hasPreviousPage, slice.hasNextPage]).toEqual([begin > 0, end < expected.length])
    expect(await slice.total()).toBe(expected.length)
    cursor = cursorOf(slice, isForward ? 'last' : 'first') ?? cursor
    done += end - begin
  }
  expect(done).toBe(expected.length)
}

describe.each(everyEngine)('slices (keyset pages) of lists on %s', (engine) => {
  describe.each(everyList.map((list) => [list.name, list] as const))('slices of %s', (_, list) => {
    test('contain each row once and in order, for any page sizes, direction, filter and time range', async () => {
      const started = await startList(engine, list, 30)
      const newestFirst = started.rows.toReversed()
      const filters = list.filters(started.ours)
      const moments = [...new Set(newestFirst.map(({ createdAt }) => createdAt))]
      const moment = fc
        .tuple(fc.constantFrom(...moments), fc.constantFrom(-1, 0, 1, 60_000))
        .map(([createdAt, shift]) => new Date(Date.parse(createdAt) + shift).toISOString())
      const bound = list.hasTimes ? fc.option(moment) : fc.constant(null)
      const sizes = fc
        .array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 4 })
        .map((some) => [...some, 5])

      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...filters),
          bound,
          bound,
          fc.constantFrom('first' as const, 'last' as const),
          sizes,
          async (filter, createdFrom, createdBefore, end, sizes) => {
            const expected = newestFirst.filter(
              (row) =>
                filter.matches(row) &&
                (createdFrom === null || row.createdAt >= createdFrom) &&
                (createdBefore === null || row.createdAt < createdBefore),
            )
            const times = list.hasTimes ? { createdFrom, createdBefore } : {}
            const ids = expected.map(({ id }) => id)
            await walk(started, { ...filter.input, ...times }, ids, end, sizes)
          },
        ),
        { numRuns: 30 },
      )
    })

    test.each(['first', 'last'] as const)(
      'contain each row once and in order under every filter, with %s',
      async (end) => {
        const started = await startList(engine, list, 12)
        for (const { input, matches } of list.filters(started.ours)) {
          const expected = started.rows.toReversed().filter(matches)
          const ids = expected.map(({ id }) => id)
          await walk(started, input, ids, end, [2])
        }
      },
    )

    test('have 20 rows by default, and 0 to 100 on request', async () => {
      const started = await startList(engine, list, 24)
      expect((await browse(started, {})).items).toHaveLength(20)
      expect((await browse(started, { first: 0 })).items).toEqual([])
      expect((await browse(started, { last: 100 })).items).toHaveLength(started.rows.length)
      for (const size of [-1, 101, 1.5, Number.NaN, '1', {}]) {
        for (const field of ['first', 'last']) {
          const { code, details } = await domainErrorOf(() => browse(started, { [field]: size }))
          expect([code, details.fields?.map((fault) => fault.field)]).toEqual(['INVALID_INPUT', [field]])
        }
      }
    })

    test('cannot be requested with both first and last', async () => {
      const started = await startList(engine, list, 1)
      const { code, details } = await domainErrorOf(() => browse(started, { first: 1, last: 1 }))
      const message = 'must not be given together with first'
      expect([code, details.fields]).toEqual(['INVALID_INPUT', [{ field: 'last', code: 'INVALID_PARAMETER', message }]])
    })

    test('reject the cursors of other lists', async () => {
      const started = await startList(engine, list, 6)
      const { context, otherContext, ours, theirs } = started
      const narrowed = list
        .filters(ours)
        .find(({ matches }) => started.rows.some(matches) && !started.rows.every(matches))
      const own = cursorOf(await browse(started, { first: 1 }), 'last') as string
      const foreign = [
        cursorOf(await browse(started, { ...narrowed?.input, first: 1 }), 'last'),
        ...(list.isShared ? [] : [cursorOf(await list.browse(otherContext, theirs, { first: 1 }), 'last')]),
        ...(list.hasTimes
          ? [cursorOf(await browse(started, { createdFrom: '2020-01-01T00:00:00Z', first: 1 }), 'last')]
          : []),
        ...(await cursorsOfOtherLists(list, context, ours)),
        ...[
          'garbage',
          '!',
          btoa('x'),
          own.slice(0, -3),
          `${own}=`,
          atob(own),
          btoa(atob(own).replace(/\d+$/, '0')),
          '1',
        ],
      ]
      for (const cursor of foreign) {
        for (const [field, size] of [['after', 'first'] as const, ['before', 'last'] as const]) {
          const { code, details } = await domainErrorOf(() => browse(started, { [size]: 1, [field]: cursor }))
          expect([cursor, code, details.fields?.map((fault) => fault.field)]).toEqual([
            cursor,
            'INVALID_INPUT',
            [field],
          ])
        }
      }
    })

    test('never contain rows of another merchant', async () => {
      const { context, otherContext, rows, foreign, theirs, ours } = await startList(engine, list, 6)
      if (list.isShared) return
      const foreignIds = foreign.map(({ id }) => id)
      const own = rows.map(({ id }) => id)

      expect(await list.find(context, foreignIds)).toEqual([])
      expect((await list.find(context, [...foreignIds, ...own, 'garbage', own[0]?.toUpperCase() ?? ''])).length).toBe(
        own.length,
      )
      // A customer or wallet of another merchant counts as missing.
      for (const { input } of list.filters(theirs)) {
        const slice = await list.browse(context, list.name === 'entries' ? theirs : ours, { ...input, first: 100 })
        expect(idsOf(list, slice).filter((id) => foreignIds.includes(id))).toEqual([])
      }
      const visible = await list.browse(otherContext, theirs, { first: 100 })
      expect(idsOf(list, visible).filter((id) => own.includes(id))).toEqual([])
    })

    test.runIf(list.hasTimes)('reject invalid times', async () => {
      const started = await startList(engine, list, 1)
      for (const time of [
        'yesterday',
        '2026-01-01',
        '2026-02-30T00:00:00Z',
        '2026-01-01T00:00:00',
        '2026-01-01T24:00:00Z',
        5,
      ]) {
        for (const field of ['createdFrom', 'createdBefore']) {
          const { code, details } = await domainErrorOf(() => browse(started, { [field]: time }))
          expect([time, code, details.fields?.map((fault) => fault.field)]).toEqual([time, 'INVALID_INPUT', [field]])
        }
      }
    })

    test.runIf(list.hasTimes)('accept times with any UTC offset and any fraction of a second', async () => {
      const started = await startList(engine, list, 3)
      const newest = started.rows.at(-1) as Row
      const shifted = `${new Date(Date.parse(newest.createdAt) + 3_600_000).toISOString().slice(0, -1)}+01:00`
      const after = newest.createdAt.replace('Z', '0001Z')
      const has = async (input: object) =>
        idsOf(list, await browse(started, { ...input, first: 100 })).includes(newest.id)

      expect(await has({ createdFrom: shifted })).toBe(true)
      expect(await has({ createdBefore: shifted })).toBe(false)
      expect(await has({ createdFrom: after })).toBe(false)
      expect(await has({ createdBefore: after })).toBe(true)
      expect(await has({ createdFrom: '0000-01-01T00:00:00+14:00', createdBefore: '9999-12-31T23:59:59-14:00' })).toBe(
        true,
      )
      expect(await has({ createdFrom: newest.createdAt, createdBefore: newest.createdAt })).toBe(false)
    })
  })
})

test.each(everyEngine)(
  'on %s a slice (keyset page) between two sequence numbers contains and counts only the rows between these numbers',
  async (engine) => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '1' })
    for (let i = 0; i < 4; i++) await depositToWallet(app.context(), { walletId, amount: '1', reference: `${i}` })
    const slice = await entries.sliceWithin(app.context(), { above: 1, below: 4 }, { walletId, first: 1 })
    expect([slice.items.map(({ sequence }) => sequence), slice.hasNextPage, await slice.total()]).toEqual([
      [3],
      true,
      2,
    ])
  },
)

test('slices (keyset pages) of several parents are newest first, whatever the order of the rows that a query returns', async () => {
  const read = async (end: { first: number | null; last: number | null }) => {
    const lists = {
      ...{ keys: ['a', 'b'], keyOf: ([key]: string) => String(key), nameOf: (key: string) => [key] },
      ...{ sequenceOf: (row: string) => Number(row.slice(1)), totals: async () => new Map() },
      rows: () => ['a2', 'b7', 'a9', 'b1', 'a5', 'b3'],
    }
    const slices = await readSlices<string>(lists, { ...end, after: null, before: null })
    return [...slices.values()].map(({ items }) => items)
  }
  expect(await read({ first: 2, last: null })).toEqual([
    ['a9', 'a5'],
    ['b7', 'b3'],
  ])
  expect(await read({ first: null, last: 2 })).toEqual([
    ['a5', 'a2'],
    ['b3', 'b1'],
  ])
})

async function cursorsOfOtherLists(list: List, context: Context, world: World): Promise<(string | null)[]> {
  const others = everyList.filter((other) => other.name !== list.name && other.name !== 'entries')
  const slices = await Promise.all(others.map((other) => other.browse(context, world, { first: 1 })))
  return slices.map((slice) => cursorOf(slice, 'last')).filter((cursor) => cursor !== null)
}
