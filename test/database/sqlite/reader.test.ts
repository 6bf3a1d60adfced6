import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { query, selectFrom } from '../../../src/database/query.ts'
import { openConnection } from '../../../src/database/sqlite/sqlite-connection.ts'
import { sqliteReader } from '../../../src/database/sqlite/sqlite-reader.ts'
import { insertMerchant } from '../../../src/modules/merchants/repository.ts'
import { openTestDatabase, openTestDatabaseAt } from '../open-test-database.ts'
import { attempt, idOf, merchantRow, rawQuery, upTo } from '../rows.ts'

const allIds = query(() => selectFrom('merchants').select('id').orderBy('id'))

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Opens a database with a merchant count and a second connection that commits one more merchant. */
async function startDatabase() {
  const { db, path } = await openTestDatabase()
  const other = new Sqlite(path)
  onTestFinished(() => void other.close())
  return {
    db,
    path,
    count: async () => (await allIds(db, {})).length,
    addElsewhere: (number: number) =>
      other.prepare(`insert into merchants (id, name, created_at) values (?, 'Elsewhere', '')`).run(idOf(number)),
    checkpoint: () => (other.pragma('wal_checkpoint(passive)') as [{ log: number; checkpointed: number }])[0],
  }
}

describe('SQLite reads in one turn of the event loop', () => {
  test('see one snapshot although another connection commits in between', async () => {
    const { count, addElsewhere } = await startDatabase()

    const first = await count()
    addElsewhere(1)
    const second = await count()
    await nextTurn()
    const inTheNextTurn = await count()

    expect([first, second, inTheNextTurn]).toEqual([0, 0, 1])
  })

  test('release their snapshot at the end of the turn, so the WAL can be reset', async () => {
    const { count, addElsewhere, checkpoint } = await startDatabase()

    await count()
    addElsewhere(1)
    const during = checkpoint()
    await nextTurn()
    const after = checkpoint()

    // The pages of the WAL, and those already checkpointed.
    expect(during.log).toBeGreaterThan(during.checkpointed)
    expect(after.log).toBe(after.checkpointed)
  })
})

const memoryUse = rawQuery(
  sql<{ place: bigint; kibibytes: bigint }>`select temp_store as place, -cache_size as kibibytes
    from pragma_temp_store join pragma_cache_size`,
)
const temporaryFolder = rawQuery(sql<{ tempStoreDirectory: string }>`pragma temp_store_directory`)

describe('a SQLite snapshot that is declared as long-running', () => {
  test('stores temporary rows in files, while other reads store temporary rows in memory', async () => {
    const { db } = await openTestDatabase()
    const [inFiles, inMemory] = [
      { place: 1n, kibibytes: 16_384n },
      { place: 2n, kibibytes: 65_536n },
    ]

    const long = await db.snapshot(memoryUse, { mayTakeLong: true })
    const failed = db.snapshot(() => Promise.reject(new Error('unreadable')), { mayTakeLong: true })

    await expect(failed).rejects.toThrow('unreadable')
    expect(long).toEqual([inFiles])
    expect([await db.snapshot(memoryUse), await memoryUse(db)]).toEqual([[inMemory], [inMemory]])
  })
})

test('the temporary files of a SQLite snapshot are in the folder of the database, even if the path has an apostrophe', async () => {
  const folder = await mkdtemp(join(tmpdir(), "payout-gateway-'s-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  const db = await openTestDatabaseAt(join(folder, 'test.sqlite'))
  await openTestDatabase()

  const [row] = await db.snapshot(temporaryFolder, { mayTakeLong: true })

  expect(row).toEqual({ tempStoreDirectory: folder })
})

describe('a SQLite write', () => {
  test('is visible as soon as it is acknowledged', async () => {
    const { db, count } = await startDatabase()

    for (const number of upTo(20)) {
      await db.write((tx) => insertMerchant(tx, merchantRow(number)))
      expect(await count()).toBe(number)
    }
  })

  test('is visible as soon as it is acknowledged, even in a turn of the event loop that read before the commit', async () => {
    const { db, count } = await startDatabase()
    const seen: number[] = []

    // Immediates run in one phase, in order: this read's snapshot is older than the commit that follows it.
    const early = new Promise<void>((resolve) => {
      setImmediate(async () => {
        seen.push(await count())
        resolve()
      })
    })
    await Promise.all([early, db.write((tx) => insertMerchant(tx, merchantRow(1)))])
    seen.push(await count())

    expect(seen).toEqual([0, 1])
  })

  test('is not visible to other readers before it is acknowledged', async () => {
    const { db, count } = await startDatabase()

    const inside = await db.write(async (tx) => {
      await insertMerchant(tx, merchantRow(1))
      return { outside: await count(), inside: (await allIds(tx, {})).length }
    })

    expect(inside).toEqual({ outside: 0, inside: 1 })
  })
})

test('a SQLite snapshot fails if it awaits something other than its own reads', async () => {
  const { db } = await startDatabase()
  let attempts = 0

  const snapshot = db.snapshot(async (read) => {
    await allIds(read, {})
    if (++attempts <= 1_000) await nextTurn()
  })

  await expect(snapshot).rejects.toThrow('a snapshot must end within one event-loop iteration')
  expect(attempts).toBeLessThan(1_000)
})

test('a SQLite write changes only the version of its table, and raw SQL changes the version of every table', async () => {
  const { db } = await openTestDatabase()
  const versions = () => [db.tableVersion('merchants'), db.tableVersion('events')].map(Number)
  const [merchants = 0, events = 0] = versions()
  expect(Math.min(merchants, events)).toBeGreaterThan(0)

  await db.write((tx) => insertMerchant(tx, merchantRow(1)))
  expect(versions()).toEqual([merchants + 1, events])

  await db.write((tx) => rawQuery(sql`delete from merchants`)(tx))
  expect(versions()).toEqual([merchants + 2, events + 1])
})

test('a commit of another process changes the version of every SQLite table', async () => {
  const { db, addElsewhere } = await startDatabase()
  const before = Number(db.tableVersion('events'))

  addElsewhere(1)
  await nextTurn()

  expect(db.tableVersion('events')).toBe(before + 1)
})

test('a SQLite table counts as changed if its version cannot be read', async () => {
  const { path } = await startDatabase()
  const writing = openConnection(path, { isReadOnly: false })
  const reading = openConnection(path, { isReadOnly: true })
  onTestFinished(() => void reading.raw.close())
  const { version } = sqliteReader(reading, { writing, requireFiles: () => {} })
  const versions = [version('events')]
  writing.raw.close()

  for (let turn = 0; turn < 2; turn++) {
    await nextTurn()
    versions.push(version('events'))
  }

  const first = Number(versions[0])
  expect(versions).toEqual([first, first + 1, first + 2])
})

test('a SQLite connection for reading cannot write', async () => {
  const { db } = await startDatabase()

  await expect(attempt(() => rawQuery(sql`delete from merchants`)(db))).rejects.toMatchObject({
    code: 'SQLITE_READONLY',
  })
})

test('a SQLite read is rejected if the database file was removed', async () => {
  const { path, count } = await startDatabase()
  expect(await count()).toBe(0)
  rmSync(path)

  // The files are checked at most every 100 ms.
  await expect
    .poll(() => attempt(count).catch((error: unknown) => error))
    .toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('The database file was removed'),
    })
})

test('a failed SQLite read does not affect later reads', async () => {
  const { db, count } = await startDatabase()

  await expect(attempt(() => rawQuery(sql`select id from nowhere`)(db))).rejects.toThrow('no such table')
  expect(await count()).toBe(0)
})
