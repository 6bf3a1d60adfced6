import Sqlite from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import type { Reader } from '../../src/database/query.ts'
import { blockSizes, findPageStart, readListCount, updateListCounts } from '../../src/lists/counted-list.ts'
import { insertMerchant } from '../../src/modules/merchants/repository.ts'
import { openTestDatabaseOn } from '../database/open-test-database.ts'
import { idOf, merchantRow, upTo } from '../database/rows.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine } from '../support/app.ts'

const merchantId = idOf(1)

async function startDatabase(engine: Engine) {
  const opened = await openTestDatabaseOn(engine)
  await opened.db.write((tx) => insertMerchant(tx, merchantRow(1)))
  return opened
}

/** Adds (1) or removes (-1) rows with these numbers. */
async function count(db: Database, lists: readonly string[], changes: readonly (readonly [number, 1 | -1])[]) {
  await db.write(async (tx) => {
    for (const [sequence, change] of changes) await updateListCounts(tx, { merchantId, lists, sequence, change })
  })
}

/** The numbers of a page; `members` stand for the table, newest first. */
async function pageOf(
  db: Reader,
  { list, page, limit }: { list: string; page: number; limit: number },
  members: number[],
) {
  const total = await readListCount(db, { merchantId, list })
  const offset = (page - 1) * limit
  const start = offset < total ? await findPageStart(db, { merchantId, list, total, offset }) : null
  if (start === null) return { items: [], total, page, limit }
  const { fromSequence, skip } = start
  expect(skip).toBeLessThan(32)
  const items = members.filter((sequence) => sequence <= fromSequence).slice(skip, skip + limit)
  return { items, total, page, limit }
}

const newestFirst = (members: Iterable<number>) => [...members].sort((a, b) => b - a)

describe.each(everyEngine)('lists with stored counts on %s', (engine) => {
  describe('every page equals the same part of an array', () => {
    // Numbers around the edges of blocks of each size, and anywhere.
    const sequence = fc.oneof(
      fc.integer({ min: 1, max: 200 }),
      ...blockSizes
        .flatMap((size) => [size, size * 2])
        .map((edge) => fc.integer({ min: Math.max(1, edge - 40), max: edge + 40 })),
      fc.integer({ min: 1, max: 3_000_000 }),
    )

    test('after any additions and removals', async () => {
      const { db } = await startDatabase(engine)
      let runs = 0

      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(sequence, { maxLength: 250 }),
          fc.array(fc.nat(), { maxLength: 200 }),
          fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 100 })), { maxLength: 20 }),
          async (added, removals, pages) => {
            const list = `list ${++runs}`
            const members = new Set(added)
            const removed: number[] = []
            for (const removal of removals) {
              const removedNumber = [...members][removal % Math.max(1, members.size)]
              if (removedNumber === undefined || !members.delete(removedNumber)) continue
              removed.push(removedNumber)
            }
            await count(db, [list], [...added.map((n) => [n, 1] as const), ...removed.map((n) => [n, -1] as const)])

            const expected = newestFirst(members)
            expect(await readListCount(db, { merchantId, list })).toBe(expected.length)
            const lastPages = [1, 7].map((limit) => [Math.ceil(expected.length / limit), limit] as const)
            for (const [page, limit] of [...pages, ...lastPages.filter(([page]) => page > 0)]) {
              const offset = (page - 1) * limit
              expect(await pageOf(db, { list, page, limit }, expected)).toEqual({
                items: expected.slice(offset, offset + limit),
                total: expected.length,
                page,
                limit,
              })
            }
          },
        ),
        { numRuns: engine === 'sqlite' ? 60 : 15 },
      )
    })

    test('with 5,000 rows of which every third was removed', async () => {
      const { db } = await startDatabase(engine)
      const all = upTo(5_000)
      const removedNumbers = all.filter((number) => number % 3 === 0 || (number > 1_000 && number < 1_400))
      await count(
        db,
        ['list'],
        all.map((n) => [n, 1]),
      )
      await count(
        db,
        ['list'],
        removedNumbers.map((n) => [n, -1]),
      )
      const left = newestFirst(all.filter((number) => !removedNumbers.includes(number)))

      for (const limit of [10, 64, 100]) {
        const items: number[] = []
        for (let page = 1; items.length < left.length; page++) {
          const pageFound = await pageOf(db, { list: 'list', page, limit }, left)
          expect(pageFound.total).toBe(left.length)
          items.push(...pageFound.items)
          if (pageFound.items.length === 0) break
        }
        expect(items).toEqual(left)
      }
    })
  })

  test('the first page of an empty list and any page beyond the end are empty', async () => {
    const { db } = await startDatabase(engine)
    const empty = { items: [], total: 0, limit: 10 }

    expect(await pageOf(db, { list: 'none', page: 1, limit: 10 }, [])).toEqual({ ...empty, page: 1 })
    expect(await pageOf(db, { list: 'none', page: 9, limit: 10 }, [])).toEqual({ ...empty, page: 9 })
    await count(db, ['emptied', 'other'], [[7, 1]])
    await count(db, ['emptied'], [[7, -1]])
    expect(await pageOf(db, { list: 'emptied', page: 1, limit: 10 }, [])).toEqual({ ...empty, page: 1 })
    expect(await pageOf(db, { list: 'other', page: 1, limit: 10 }, [7])).toMatchObject({ items: [7], total: 1 })
    expect(await pageOf(db, { list: 'other', page: 2, limit: 10 }, [7])).toMatchObject({ items: [], total: 1 })
  })

  test('every row is found in a list whose rows are spread over many blocks with few rows each', async () => {
    const { db } = await startDatabase(engine)
    const members = newestFirst([...upTo(31), ...upTo(8).map((block) => block * 32)])
    await count(
      db,
      ['list'],
      members.map((n) => [n, 1]),
    )
    for (const [i, member] of members.entries()) {
      expect((await pageOf(db, { list: 'list', page: i + 1, limit: 1 }, members)).items).toEqual([member])
    }
  })

  test('findPageStart returns null for a page that the counts of the blocks do not include', async () => {
    const { db } = await startDatabase(engine)
    const start = (total: number, offset: number) => findPageStart(db, { merchantId, list: 'list', total, offset })
    expect([await start(10, 0), await start(10, 9)]).toEqual([null, null])
    await count(db, ['list'], [[7, 1]])
    expect([await start(10, 0), await start(10, 3)]).toEqual([{ fromSequence: 31, skip: 0 }, null])
  })

  test('counts are unchanged after their transaction is rolled back', async () => {
    const { db } = await startDatabase(engine)

    const refused = db.write(async (tx) => {
      await updateListCounts(tx, { merchantId, lists: ['list'], sequence: 1, change: 1 })
      throw new Error('no')
    })

    await expect(refused).rejects.toThrow('no')
    expect(await readListCount(db, { merchantId, list: 'list' })).toBe(0)
  })
})

test('finding any page among a million rows reads at most 49 counts', async () => {
  const { db, url } = await startDatabase('sqlite')
  const length = 1_000_000
  countDirectly(url.replace('sqlite:', ''), length)
  let rowsRead = 0
  const counting: Reader = {
    execute: async <Result>(...[built, params]: Parameters<Reader['execute']>) => {
      const rows = await db.execute<Result>(built, params)
      rowsRead += rows.length
      return rows
    },
  }

  for (const offset of [0, 31, 32, 1_023, 300_000, 777_777, 999_990]) {
    rowsRead = 0
    const total = await readListCount(counting, { merchantId, list: 'long' })
    const start = await findPageStart(counting, { merchantId, list: 'long', total, offset })

    expect(total).toBe(length)
    if (offset > 0) expect(start && start.fromSequence - start.skip).toBe(length - offset)
    // The total, and for each of three sizes the blocks of the nearer half.
    expect(rowsRead).toBeLessThanOrEqual(1 + 3 * 16)
  }
})

/** Inserts the counts of rows 1 to `length` directly, equal to those of as many calls. */
function countDirectly(path: string, length: number): void {
  const database = new Sqlite(path)
  onTestFinished(() => void database.close())
  const insert = database.prepare(`insert into list_counts values (?, 'long', ?, ?, ?)`)
  database.transaction(() => {
    insert.run(merchantId, 0n, 0n, BigInt(length))
    for (const size of blockSizes) {
      for (let block = 0; block * size <= length; block++) {
        const [first, last] = [Math.max(1, block * size), Math.min(length, (block + 1) * size - 1)]
        insert.run(merchantId, BigInt(size), BigInt(block), BigInt(last - first + 1))
      }
    }
  })()
}
