import { rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openDatabase } from '../../../src/app/open-database.ts'
import { DomainError } from '../../../src/core/errors.ts'
import type { Database } from '../../../src/database/database.ts'
import { maxQueuedWrites } from '../../../src/database/group-commit.ts'
import type { Tx } from '../../../src/database/query.ts'
import { query, selectFrom, sharedQuery } from '../../../src/database/query.ts'
import { maxBatchSize } from '../../../src/database/sqlite/sqlite-writer.ts'
import { latestSequenceNumber, takeSequenceNumber } from '../../../src/lists/sequence.ts'
import { debitOldestWallet } from '../../../src/modules/ledger/repository.ts'
import { insertMerchant } from '../../../src/modules/merchants/repository.ts'
import { openTestDatabase, openTestDatabaseAt } from '../open-test-database.ts'
import { attempt, idOf, merchantRow, rawQuery, upTo } from '../rows.ts'

const merchantNames = query(() => selectFrom('merchants').select('name').orderBy('id'))
const sharedNames = sharedQuery(() => selectFrom('merchants').select('name').orderBy('id'))
const merchantId = idOf(1)

const refusal = new DomainError('WALLET_NOT_FOUND', 'There is none.')
const late = { message: 'a statement ran after its operation had ended' }

/** Creates a database with one merchant. */
async function startDatabase() {
  const { db, path } = await openTestDatabase()
  // Two writes, because a write after a lone one does not wait for others.
  await Promise.all([db.write((tx) => insertMerchant(tx, merchantRow(1))), db.write(() => {})])
  const before = db.statistics()
  return {
    db,
    path,
    /** Returns the difference of the engine's counters. */
    counted: () => ({
      writes: db.statistics().writes - before.writes,
      commits: db.statistics().commits - before.commits,
    }),
  }
}

/** Takes the next number of the merchant's payout sequence. */
const takeNumber = (tx: Tx) => takeSequenceNumber(tx, merchantId, 'addresses:test')

async function latestNumber(db: Database): Promise<number> {
  return (await latestSequenceNumber(db, { merchantId, name: 'addresses:test' }))?.latest ?? 0
}

describe('SQLite operations that start in one turn of the event loop', () => {
  test('share one commit', async () => {
    const { db, counted } = await startDatabase()

    const numbers = await Promise.all(upTo(50).map(() => db.write(takeNumber)))

    expect(numbers).toEqual(upTo(50))
    expect(counted()).toEqual({ writes: 50, commits: 1 })
  })

  test('commit without waiting for the end of the turn if the previous turn had no operation', async () => {
    const { db } = await startDatabase()
    await db.write(takeNumber)
    // An idle turn.
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    let hasTurnEnded = false
    setImmediate(() => {
      hasTurnEnded = true
    })

    expect(await db.write(takeNumber)).toBe(2)

    expect(hasTurnEnded).toBe(false)
  })

  test('share one commit if the previous operation was committed in the same turn', async () => {
    const { db, counted } = await startDatabase()

    await db.write(takeNumber)
    const numbers = await Promise.all(upTo(3).map(() => db.write(takeNumber)))

    expect(numbers).toEqual([2, 3, 4])
    expect(counted()).toEqual({ writes: 4, commits: 2 })
  })

  test('share one commit even if they start at different times of the turn', async () => {
    const { db, counted } = await startDatabase()

    const first = db.write(takeNumber)
    await Promise.resolve()
    const second = db.write(takeNumber)
    await Promise.all([first, second])

    expect(counted()).toEqual({ writes: 2, commits: 1 })
  })

  test('share one commit after a busy turn and an idle turn, even if they start at different times of the turn', async () => {
    const { db, counted } = await startDatabase()
    await new Promise(setImmediate)
    await new Promise(setImmediate)

    const first = db.write(takeNumber)
    await Promise.resolve()
    await Promise.all([first, db.write(takeNumber)])

    expect(counted()).toEqual({ writes: 2, commits: 1 })
  })

  test('form several group commits in order when they exceed the maximum batch size', async () => {
    const { db, counted } = await startDatabase()

    const numbers = await Promise.all(upTo(maxBatchSize + 1).map(() => db.write(takeNumber)))

    expect(numbers).toEqual(upTo(maxBatchSize + 1))
    expect(counted()).toEqual({ writes: maxBatchSize + 1, commits: 2 })
  })

  test('return or throw only after the commit', async () => {
    const { db, path } = await startDatabase()
    const other = new Sqlite(path, { readonly: true })
    onTestFinished(() => void other.close())
    const committed = () => other.prepare('select count(*) from merchants').pluck().get()
    const seenInside: unknown[] = []
    const seenWhenAnswered: unknown[] = []

    const results = [2, 3, 4].map((number) =>
      db
        .write(async (tx) => {
          if (number === 3) throw refusal
          await insertMerchant(tx, merchantRow(number))
          seenInside.push(committed())
        })
        .catch(() => {})
        .then(() => seenWhenAnswered.push(committed())),
    )
    await Promise.all(results)

    expect(seenInside).toEqual([1, 1])
    expect(seenWhenAnswered).toEqual([3, 3, 3])
  })
})

describe('a SQLite operation that throws in a group commit', () => {
  test('before it writes is rejected alone, and no operation runs twice', async () => {
    const { db, counted } = await startDatabase()
    const operation = vi.fn(takeNumber)

    const outcome = await Promise.allSettled([
      db.write(operation),
      db.write(async (tx) => {
        await latestSequenceNumber(tx, { merchantId, name: 'addresses:test' })
        throw refusal
      }),
      db.write(operation),
    ])

    expect(outcome).toEqual([fulfilled(1), rejected(refusal), fulfilled(2)])
    expect(operation).toHaveBeenCalledTimes(2)
    expect(counted()).toEqual({ writes: 2, commits: 1 })
  })

  test('synchronously does not affect the other operations of the group commit', async () => {
    const { db } = await startDatabase()

    const outcome = await Promise.allSettled([
      db.write(() => {
        throw refusal
      }),
      db.write(takeNumber),
    ])

    expect(outcome).toEqual([rejected(refusal), fulfilled(1)])
  })

  test('after it has written is rolled back, and earlier operations run again and commit with the other operations', async () => {
    const { db, counted } = await startDatabase()
    const before = vi.fn(takeNumber)
    const after = vi.fn(takeNumber)

    const outcome = await Promise.allSettled([
      db.write(before),
      db.write(async (tx) => {
        await takeNumber(tx)
        await insertMerchant(tx, merchantRow(2))
        throw refusal
      }),
      db.write(after),
    ])

    expect(outcome).toEqual([fulfilled(1), rejected(refusal), fulfilled(2)])
    expect(before).toHaveBeenCalledTimes(2)
    expect(after).toHaveBeenCalledTimes(1)
    expect(counted()).toEqual({ writes: 2, commits: 1 })
    expect(await latestNumber(db)).toBe(2)
  })

  test('after a statement that changed no row is rejected alone, and no operation runs twice', async () => {
    const { db } = await startDatabase()
    const operation = vi.fn(takeNumber)
    const debit = { merchantId, ownerId: merchantId, assetCode: 'USDC', amount: 1n, time: 1n }

    const outcome = await Promise.allSettled([
      db.write(operation),
      db.write(async (tx) => {
        expect(await debitOldestWallet(tx, debit)).toEqual([])
        throw refusal
      }),
      db.write(operation),
    ])

    expect(outcome).toEqual([fulfilled(1), rejected(refusal), fulfilled(2)])
    expect(operation).toHaveBeenCalledTimes(2)
  })

  test('after it took a sequence number releases the number, and no operation runs twice', async () => {
    const { db, counted } = await startDatabase()
    await Promise.all([db.write(takeNumber), db.write(() => {})])
    const operation = vi.fn(takeNumber)

    const outcome = await Promise.allSettled([
      db.write(operation),
      db.write(async (tx) => {
        await takeNumber(tx)
        throw refusal
      }),
      db.write(operation),
    ])

    expect(outcome).toEqual([fulfilled(2), rejected(refusal), fulfilled(3)])
    expect(operation).toHaveBeenCalledTimes(2)
    expect(counted()).toEqual({ writes: 4, commits: 2 })
    expect(await latestNumber(db)).toBe(3)
  })

  test('while it stores its values at COMMIT makes the whole group fail, and the next group commits', async () => {
    const { db, counted } = await startDatabase()
    const store = () => {
      throw refusal
    }

    const outcome = await Promise.allSettled([
      db.write((tx) => insertMerchant(tx, merchantRow(2))),
      db.write(async (tx) => tx.deferred.update('x', { read: () => 0, next: (value: number) => value + 1, store })),
      db.write(takeNumber),
    ])

    expect(outcome).toEqual([rejected(refusal), rejected(refusal), rejected(refusal)])
    expect(counted()).toEqual({ writes: 0, commits: 0 })
    expect(await merchantNames(db, {})).toHaveLength(1)
    expect(await db.write(takeNumber)).toBe(1)
  })

  test('after it has written is rolled back at any position of the group', async () => {
    const { db, counted } = await startDatabase()

    const outcome = await Promise.allSettled(
      upTo(30).map((member) =>
        db.write(async (tx) => {
          const number = await takeNumber(tx)
          await insertMerchant(tx, merchantRow(100 + member))
          if (member % 3 === 1 || member === 30) throw new Error(`member ${member}`)
          return number
        }),
      ),
    )

    const stored = outcome.filter(({ status }) => status === 'fulfilled')
    expect(stored).toEqual(upTo(19).map(fulfilled))
    expect(outcome[3]).toEqual(rejected(new Error('member 4')))
    expect(outcome[29]).toEqual(rejected(new Error('member 30')))
    expect(counted()).toEqual({ writes: 19, commits: 1 })
    expect(await latestNumber(db)).toBe(19)
  })

  test('because a constraint is violated is rolled back alone', async () => {
    const { db } = await startDatabase()

    const outcome = await Promise.allSettled([
      db.write(takeNumber),
      db.write(async (tx) => {
        await insertMerchant(tx, merchantRow(2))
        await insertMerchant(tx, merchantRow(1))
      }),
      db.write(takeNumber),
    ])

    expect(outcome).toEqual([
      fulfilled(1),
      { status: 'rejected', reason: expect.objectContaining({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' }) },
      fulfilled(2),
    ])
    expect(await merchantNames(db, {})).toEqual([{ name: 'Merchant 1' }])
  })

  test('cannot write during the next operation, even if some of its code is still running', async () => {
    const { db } = await startDatabase()
    const leftRunning: Promise<unknown>[] = []

    const outcome = await Promise.allSettled([
      db.write(async (tx) => {
        const branch = async () => {
          for (let i = 0; i < 20; i++) await null
          await insertMerchant(tx, merchantRow(2))
        }
        leftRunning.push(branch().catch((error: unknown) => error))
        throw refusal
      }),
      db.write(async (tx) => {
        for (let i = 0; i < 40; i++) await null
        return takeNumber(tx)
      }),
    ])

    expect(outcome).toEqual([rejected(refusal), fulfilled(1)])
    expect(await Promise.all(leftRunning)).toEqual([expect.objectContaining(late)])
    expect(await merchantNames(db, {})).toEqual([{ name: 'Merchant 1' }])
  })
})

test('a SQLite operation reads a value as soon as it locks the value, and does not read the value again', async () => {
  const { db } = await startDatabase()
  const read = vi.fn(() => 10)

  const [readsAfterLock, value] = await db.write(async (tx) => {
    tx.deferred.lock('x', read)
    const { calls } = read.mock
    return [calls.length, await tx.deferred.update('x', { read, next: (value) => value + 1, store: () => {} })]
  })

  expect([readsAfterLock, value, read.mock.calls.length]).toEqual([1, 11, 1])
})

describe('shared data that a SQLite writer has cached', () => {
  const [one, two] = [{ name: 'Merchant 1' }, { name: 'Merchant 2' }]
  const readNames = (db: Database) => db.write((tx) => sharedNames(tx, {}))

  test('is read again after a change by this process', async () => {
    const { db } = await startDatabase()
    expect(await readNames(db)).toEqual([one])
    expect(await readNames(db)).toBe(await readNames(db))

    const inTransaction = await db.write(async (tx) => {
      await insertMerchant(tx, merchantRow(2))
      return sharedNames(tx, {})
    })

    expect([inTransaction, await readNames(db)]).toEqual([
      [one, two],
      [one, two],
    ])
  })

  test('is read again after a change by another process', async () => {
    const { db, path } = await startDatabase()
    expect(await readNames(db)).toEqual([one])
    const other = await openTestDatabaseAt(path)

    await other.write((tx) => insertMerchant(tx, merchantRow(2)))

    expect(await readNames(db)).toEqual([one, two])
  })

  test('is read again after a change was rolled back', async () => {
    const { db } = await startDatabase()

    const outcome = await Promise.allSettled([
      db.write(async (tx) => {
        await insertMerchant(tx, merchantRow(2))
        await sharedNames(tx, {})
        throw refusal
      }),
      readNames(db),
    ])

    expect(outcome).toEqual([rejected(refusal), fulfilled([one])])
  })
})

test('a SQLite operation can catch the error of a violated constraint and commit its other statements', async () => {
  const { db } = await startDatabase()

  await db.write(async (tx) => {
    await attempt(() => insertMerchant(tx, merchantRow(1))).catch(() => insertMerchant(tx, merchantRow(2)))
  })

  expect(await merchantNames(db, {})).toEqual([{ name: 'Merchant 1' }, { name: 'Merchant 2' }])
})

describe('a SQLite operation that waits for something other than its own statements', () => {
  const waits: [string, (db: Database) => Promise<unknown>][] = [
    ['setTimeout', () => new Promise((resolve) => setTimeout(resolve, 5))],
    ['setImmediate', () => new Promise((resolve) => setImmediate(resolve))],
    ['a file', () => readFile(new URL(import.meta.url))],
    ['a promise that never settles', () => new Promise(() => {})],
    ['a separate write', (db) => db.write(async () => {})],
  ]
  const complaint = new Error('an operation inside write() awaited something other than its own statements')

  test.each(waits)('(%s) is rolled back and rejected, and the rest of its group is committed', async (_, wait) => {
    const { db } = await startDatabase()

    const outcome = await Promise.allSettled([
      db.write(takeNumber),
      db.write(async (tx) => {
        await insertMerchant(tx, merchantRow(2))
        await wait(db)
      }),
      db.write(takeNumber),
    ])

    expect(outcome).toEqual([fulfilled(1), rejected(complaint), fulfilled(2)])
    expect(await merchantNames(db, {})).toEqual([{ name: 'Merchant 1' }])
    expect(await latestNumber(db)).toBe(2)
    expect(await db.write(takeNumber)).toBe(3)
  })

  test('is rejected even if it ends while the rest of its group runs again', async () => {
    const { db } = await startDatabase()
    let runs = 0

    const outcome = await Promise.allSettled([
      db.write(() => (++runs === 2 ? new Promise(() => {}) : null)),
      db.write(async (tx) => {
        await insertMerchant(tx, merchantRow(2))
        await new Promise(setImmediate)
      }),
    ])

    expect(outcome).toEqual([rejected(complaint), rejected(complaint)])
    expect(await merchantNames(db, {})).toEqual([{ name: 'Merchant 1' }])
  })

  test('is rejected once if it throws after the wait, and the rest of its group is not repeated', async () => {
    const { db } = await startDatabase()
    const ended = Promise.withResolvers<void>()

    const outcome = await Promise.allSettled([
      db.write(takeNumber),
      db.write(async (tx) => {
        await insertMerchant(tx, merchantRow(2))
        await new Promise((resolve) => setTimeout(resolve, 5))
        ended.resolve()
        throw refusal
      }),
    ])
    await ended.promise
    await new Promise(setImmediate)

    expect(outcome).toEqual([fulfilled(1), rejected(complaint)])
    expect(await latestNumber(db)).toBe(1)
  })

  test('cannot run statements after the wait', async () => {
    const { db } = await startDatabase()
    const ended = Promise.withResolvers<unknown>()

    const result = db.write(async (tx) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      await attempt(() => insertMerchant(tx, merchantRow(2))).catch(ended.resolve)
    })

    await expect(result).rejects.toEqual(complaint)
    expect(await ended.promise).toMatchObject(late)
    expect(await merchantNames(db, {})).toEqual([{ name: 'Merchant 1' }])
  })

  test('is not rejected if it only reads outside its transaction', async () => {
    const { db } = await startDatabase()

    const names = await db.write(() => merchantNames(db, {}))

    expect(names).toEqual([{ name: 'Merchant 1' }])
  })
})

test('a SQLite transaction handle cannot be used after its operation has ended', async () => {
  const { db } = await startDatabase()
  const leaked = await db.write(async (tx) => ({ tx }))

  await expect(attempt(() => insertMerchant(leaked.tx, merchantRow(2)))).rejects.toMatchObject(late)
})

/** Fills the queue while the clock stands still, so that the queue does not become overdue. */
function fillQueue(db: Database) {
  takeClock()
  const results: Promise<string>[] = []
  expect(() => {
    while (results.length <= maxQueuedWrites) {
      db.requireQueueSpace()
      results.push(db.write(async () => 'done'))
    }
  }).toThrow('The write queue is full. Retry with the same idempotency key.')
  expect(results).toHaveLength(maxQueuedWrites)
  return results
}

test('a full SQLite write queue rejects further writes with UNAVAILABLE and performs the queued writes', async () => {
  const { db } = await startDatabase()
  const results = fillQueue(db)

  await expect(db.write(takeNumber)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'The write queue is full. Retry with the same idempotency key.',
  })
  expect(new Set(await Promise.all(results))).toEqual(new Set(['done']))
  expect(() => db.requireQueueSpace()).not.toThrow()
  expect(await db.write(takeNumber)).toBe(1)
})

/** Blocks a turn of the event loop for a given time. */
function takeClock() {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
}

test.each([
  { lastBatchMs: 0, overdueMs: 50 },
  { lastBatchMs: 80, overdueMs: 80 },
])(
  'a SQLite write queue is committed within the turn of the event loop after $overdueMs ms if the last batch took $lastBatchMs ms',
  async ({ lastBatchMs, overdueMs }) => {
    takeClock()
    const { db, counted } = await startDatabase()
    await Promise.all([db.write(() => void vi.advanceTimersByTime(lastBatchMs)), db.write(() => {})])
    const queuedAfter = (milliseconds: number) => {
      vi.advanceTimersByTime(milliseconds)
      db.requireQueueSpace()
      return db.statistics().queued
    }

    const written = db.write(takeNumber)

    expect([queuedAfter(overdueMs - 1), queuedAfter(1)]).toEqual([1, 0])
    expect(await written).toBe(1)
    await new Promise(setImmediate)
    expect(counted()).toEqual({ writes: 3, commits: 2 })
  },
)

test('a SQLite writer calls back before each batch', async () => {
  const { db } = await startDatabase()
  const steps: string[] = []
  db.onBeforeBatch(() => steps.push('callback'))

  for (const step of ['first', 'second']) await db.write(() => void steps.push(step))

  expect(steps).toEqual(['callback', 'first', 'callback', 'second'])
})

test('queued SQLite writes are committed even if new requests prolong the turn of the event loop', async () => {
  const { db } = await startDatabase()
  takeClock()
  let isStored = false
  const first = db.write(takeNumber).then((number) => {
    isStored = true
    return number
  })

  const others = []
  for (let tick = 0; !isStored && tick < 100_000; tick++, await null) {
    if (tick % 100 > 0) continue
    others.push(db.write(takeNumber))
    vi.advanceTimersByTime(1)
  }

  expect(isStored).toBe(true)
  expect(await first).toBe(1)
  await Promise.all(others)
})

test('a SQLite snapshot stays the same when a write is committed in the same turn of the event loop', async () => {
  const { db } = await startDatabase()
  takeClock()
  const stored = db.write((tx) => insertMerchant(tx, merchantRow(2)))
  vi.advanceTimersByTime(100)

  const snapshot = db.snapshot(async (read) => {
    const before = await merchantNames(read, {})
    // Long enough for the commit.
    for (let ticks = 0; ticks < 100; ticks++) await null
    return [before, await merchantNames(read, {})]
  })
  db.requireQueueSpace()
  const [before, after] = await snapshot
  await stored

  expect(before).toEqual(after)
  expect(await merchantNames(db, {})).toEqual([{ name: 'Merchant 1' }, { name: 'Merchant 2' }])
})

test('a SQLite commit that fails for an unexpected reason is fatal, because the writes may be stored', async () => {
  const { path } = await startDatabase()
  const onFatal = vi.fn()
  const db = await openDatabase({ url: `sqlite:${path}`, onFatal })
  onTestFinished(() => db.close())

  const failing = db.write(async (tx) => {
    await insertMerchant(tx, merchantRow(2))
    await sharedNames(tx, {})
    await rawQuery(sql`rollback`)(tx)
  })

  const failure = expect.objectContaining({ message: 'cannot commit - no transaction is active' })
  await expect(failing).rejects.toEqual(failure)
  expect(onFatal.mock.calls).toEqual([[failure]])
  expect(await db.write((tx) => sharedNames(tx, {}))).toEqual([{ name: 'Merchant 1' }])
})

test('a SQLite write is rejected as possibly stored if the database file was removed before the end of its commit', async () => {
  const { path } = await startDatabase()
  const onStopped = vi.fn()
  const db = await openDatabase({ url: `sqlite:${path}`, onFatal: () => {}, onStopped })
  onTestFinished(() => db.close())

  const removing = db.write(async (tx) => {
    await insertMerchant(tx, merchantRow(2))
    rmSync(path)
  })

  await expect(removing).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('it may be stored'),
    cause: { message: expect.stringContaining('The database file was removed') },
  })
  expect(onStopped).toHaveBeenCalledTimes(1)
})

test('a SQLite operation runs no statement after the loss of its transaction, even if it catches the error', async () => {
  const { db } = await startDatabase()

  const losing = db.write(async (tx) => {
    await rawQuery(sql`rollback`)(tx)
    await attempt(() => insertMerchant(tx, merchantRow(1))).catch(() => {})
    await attempt(() => insertMerchant(tx, merchantRow(2))).catch(() => {})
  })

  await expect(losing).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' })
  expect(await merchantNames(db, {})).toEqual([{ name: 'Merchant 1' }])
})

test('a SQLite write does not run if the database file was removed', async () => {
  const { db, path } = await startDatabase()
  rmSync(path)
  const operation = vi.fn()

  await expect(db.write(operation)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('The database file was removed'),
  })
  expect(operation).not.toHaveBeenCalled()
})

test('closing a SQLite database first commits all accepted writes and returns their results', async () => {
  const { db, path } = await startDatabase()

  const results = upTo(maxBatchSize * 2).map(() => db.write(takeNumber))
  await db.close()

  expect(await Promise.all(results)).toEqual(upTo(maxBatchSize * 2))
  const reopened = new Sqlite(path, { readonly: true })
  onTestFinished(() => void reopened.close())
  expect(reopened.prepare('select latest from sequences').pluck().get()).toBe(maxBatchSize * 2)
})

test('a write to a closed SQLite database is rejected', async () => {
  const { db } = await startDatabase()
  await db.close()

  await expect(db.write(takeNumber)).rejects.toThrow()
})

test('the SQLite connection for writing syncs each commit and enforces foreign keys', async () => {
  const { db } = await startDatabase()

  const settings = await db.write(async (tx) => [
    await rawQuery(sql`pragma synchronous`)(tx),
    await rawQuery(sql`pragma foreign_keys`)(tx),
    await rawQuery(sql`pragma journal_mode`)(tx),
  ])

  expect(settings).toEqual([[{ synchronous: 2n }], [{ foreignKeys: 1n }], [{ journalMode: 'wal' }]])
  await expect(db.write((tx) => takeSequenceNumber(tx, idOf(404), 'addresses:test'))).rejects.toMatchObject({
    code: 'SQLITE_CONSTRAINT_FOREIGNKEY',
  })
})

const fulfilled = (value: unknown) => ({ status: 'fulfilled', value })
const rejected = (reason: unknown) => ({ status: 'rejected', reason })
