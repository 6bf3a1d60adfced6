import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import { createUuidV7Generator, timestamp } from '../../src/core/ids-and-clock.ts'
import type { Database } from '../../src/database/database.ts'
import type { NewRowFields } from '../../src/lists/sequence.ts'
import {
  isListSorted,
  latestSequenceNumber,
  lockSequence,
  newRowFields,
  numberImportedRowOfOwner,
  takeSequenceNumber,
} from '../../src/lists/sequence.ts'
import { insertMerchant } from '../../src/modules/merchants/repository.ts'
import { openTestDatabaseOn } from '../database/open-test-database.ts'
import { idOf, merchantRow, upTo } from '../database/rows.ts'
import { everyEngine } from '../support/app.ts'

const merchants = [idOf(1), idOf(2)]
const addresses = ['addresses:one', 'addresses:two'] as const
const refusal = new DomainError('WALLET_NOT_FOUND', 'There is none.')

/**
 * An operation: the numbers that it allocates, sequentially or concurrently, a row that it begins, and its
 * outcome.
 */
const operations = fc.array(
  fc.record({
    merchant: fc.nat({ max: 1 }),
    takes: fc.array(fc.constantFrom(...addresses), { maxLength: 3 }),
    isAtOnce: fc.boolean(),
    /** Whether it may share a transaction; it then also makes a change that must be rolled back, before it fails. */
    isBeside: fc.boolean(),
    /** The offset of its clock in milliseconds; without it no row begins. */
    clock: fc.option(fc.integer({ min: -3, max: 3 })),
    ending: fc.constantFrom('done', 'done', 'refused', 'failed', 'failed after writing'),
  }),
  { minLength: 1, maxLength: 40 },
)

describe.each(everyEngine)('sequence numbers of operations that share a transaction on %s', (engine) => {
  test('have no gaps even if some operations fail, and follow the order of the rows’ times and ids', async () => {
    const { db } = await openTestDatabaseOn(engine)
    await db.write(async (tx) => {
      await insertMerchant(tx, merchantRow(1))
      await insertMerchant(tx, merchantRow(2))
    })
    const newId = createUuidV7Generator()
    const taken = new Map<string, number[]>()
    const rows = new Map<string, NewRowFields[]>()
    let others = 10

    const run = async (db: Database, { merchant, takes, isAtOnce, isBeside, clock, ending }: Operation) => {
      const merchantId = merchants[merchant] ?? ''
      const result = await db.write(
        async (tx) => {
          if (isBeside) lockSequence(tx, merchantId, 'payouts')
          const take = (name: (typeof addresses)[number]) => takeSequenceNumber(tx, merchantId, name)
          const numbers = isAtOnce ? await Promise.all(takes.map(take)) : []
          if (!isAtOnce) for (const name of takes) numbers.push(await take(name))
          const readClock = () => Date.now() + (clock ?? 0)
          const numbering = { merchantId, now: readClock, newId: () => newId(readClock()) }
          const row = clock === null ? null : await newRowFields(tx, numbering, 'payouts')
          if (ending === 'failed after writing') await insertMerchant(tx, merchantRow(++others))
          if (ending === 'refused') throw refusal
          if (ending !== 'done') throw new Error(ending)
          return { numbers, row }
        },
        { merchantId, ...(isBeside && { batchable: { conflictKey: null } }) },
      )
      for (const [i, name] of takes.entries()) append(taken, `${merchantId} ${name}`, result.numbers[i] ?? 0)
      if (result.row) append(rows, `${merchantId} payouts`, result.row)
    }

    await fc.assert(
      fc.asyncProperty(operations, async (group) => {
        await Promise.allSettled(group.map((operation) => run(db, operation)))

        for (const [key, numbers] of [
          ...taken,
          ...[...rows].map(([key, rows]) => [key, rows.map(numberOf)] as const),
        ]) {
          const [merchantId = '', name] = key.split(' ')
          expect(numbers.toSorted((one, other) => one - other)).toEqual(upTo(numbers.length))
          expect((await latestSequenceNumber(db, { merchantId, name: name as 'payouts' }))?.latest).toBe(numbers.length)
        }
        for (const list of rows.values()) {
          const ordered = list
            .toSorted((one, other) => numberOf(one) - numberOf(other))
            .map(({ createdAt, id }) => createdAt + id)
          expect(ordered).toEqual(ordered.toSorted())
        }
      }),
      { numRuns: engine === 'sqlite' ? 60 : 25 },
    )
    expect(rows.size).toBe(2)
  })
})

test.each(everyEngine)(
  'on %s the time of a new row is moved forward only if its id would not sort after the previous row',
  async (engine) => {
    const { db } = await openTestDatabaseOn(engine)
    await db.write((tx) => insertMerchant(tx, merchantRow(1)))
    const start = Date.parse('2026-03-01T00:00:00.000Z')
    const timeOf = async (id: string, ms: number) => {
      const numbering = { merchantId: idOf(1), now: () => start + ms, newId: () => id }
      const { createdAt } = await db.write((tx) => newRowFields(tx, numbering, 'payouts'))
      return Date.parse(createdAt) - start
    }
    const times = []
    for (const [id, ms] of [
      [2, 0],
      [3, 0],
      [1, 0],
      [1, 0],
      [9, -5],
      [8, 7],
    ] as const) {
      times.push(await timeOf(idOf(id), ms))
    }
    expect(times).toEqual([0, 0, 1, 2, 2, 7])
  },
)

test.each(everyEngine)(
  'on %s an imported row keeps its times, and a list counts as unsorted once a row is older than the preceding row',
  async (engine) => {
    const { db } = await openTestDatabaseOn(engine)
    await db.write((tx) => insertMerchant(tx, merchantRow(1)))
    const [merchantId, start] = [idOf(1), Date.parse('2026-03-01T00:00:00.000Z')]
    const at = (ms: number) => timestamp(start + ms)
    const importRow = (id: string, ms: number) => {
      const row = { id, createdAt: at(ms), updatedAt: at(ms + 500) }
      return db.write((tx) => numberImportedRowOfOwner(tx, merchantId, { row, ownerId: idOf(2), name: 'wallets' }))
    }
    const addRow = (id: string, ms: number) =>
      db.write((tx) => newRowFields(tx, { merchantId, now: () => start + ms, newId: () => id }, 'wallets'))
    const isSorted = () => isListSorted(db, merchantId, 'wallets')

    expect(await importRow(idOf(50), 100)).toEqual({
      ...{ merchantId, id: idOf(50), sequence: 1, ownerSequence: 1, createdAt: at(100), updatedAt: at(600) },
    })
    // The new row has the time of the imported one, so a row with a lower id than either needs a later time.
    expect((await addRow(idOf(60), 0)).createdAt).toBe(at(100))
    expect(await importRow(idOf(40), 100)).toMatchObject({ sequence: 3, ownerSequence: 2, createdAt: at(100) })
    expect((await addRow(idOf(59), 0)).createdAt).toBe(at(101))
    await importRow(idOf(70), 101)
    expect((await addRow(idOf(69), 0)).createdAt).toBe(at(102))
    await importRow(idOf(30), 200)
    expect((await addRow(idOf(31), 0)).createdAt).toBe(at(200))
    expect(await isSorted()).toBe(true)

    await importRow(idOf(90), 199)
    expect((await addRow(idOf(32), 0)).createdAt).toBe(at(200))
    expect(await isSorted()).toBe(false)
    await importRow(idOf(91), 300)
    expect(await isSorted()).toBe(false)
    expect((await addRow(idOf(92), 0)).sequence).toBe(12)
  },
)

type Operation = (typeof operations extends fc.Arbitrary<infer All> ? All : never)[number]

const numberOf = ({ sequence }: NewRowFields) => sequence

function append<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  lists.set(key, [...(lists.get(key) ?? []), item])
}
