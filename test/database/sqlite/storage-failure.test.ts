import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Database } from '../../../src/database/database.ts'
import { acrossMerchants, query, selectFrom } from '../../../src/database/query.ts'
import { insertMerchant } from '../../../src/modules/merchants/repository.ts'
import { payouts as payoutList } from '../../../src/modules/payouts/list.ts'
import { insertKey } from '../../../src/operations/idempotency/repository.ts'
import { payoutBody, startApp } from '../../support/app.ts'
import { openTestDatabase, openTestDatabaseAt } from '../open-test-database.ts'
import { attempt, keyRow, merchantRow, rawQuery, upTo } from '../rows.ts'

const keys = query(() => acrossMerchants(selectFrom('idempotencyKeys').select('key').orderBy('createdAt')))
const countKeys = async (db: Database) => (await keys(db, {})).length

const unavailable = (cause: string) => ({
  status: 'rejected',
  reason: expect.objectContaining({ code: 'UNAVAILABLE', cause: expect.objectContaining({ code: cause }) }),
})

const storeKeys = (db: Database, numbers: number[]) =>
  Promise.allSettled(numbers.map((number) => db.write((tx) => insertKey(tx, keyRow(number)))))

const statuses = (outcome: PromiseSettledResult<unknown>[]) => outcome.map(({ status }) => status)

describe('a full disk', () => {
  /** Limits the growth of the file to `pages`, as a full disk would. */
  const leaveRoomFor = (db: Database, pages: number) =>
    db.write(async (tx) => {
      const [{ pageCount } = { pageCount: 0n }] = await rawQuery<{ pageCount: bigint }>(sql`pragma page_count`)(tx)
      await rawQuery(sql`pragma max_page_count = ${sql.lit(Number(pageCount) + pages)}`)(tx)
    })

  test('makes the whole group commit fail with UNAVAILABLE, and the writer recovers once there is space', async () => {
    const { db } = await openTestDatabase()
    await db.write((tx) => insertMerchant(tx, merchantRow(1)))
    await leaveRoomFor(db, 100)

    // Three of 25 pages fit; with the fourth and fifth the group does not.
    expect(statuses(await storeKeys(db, [1, 2, 3]))).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
    expect(await storeKeys(db, [4, 5])).toEqual([unavailable('SQLITE_FULL'), unavailable('SQLITE_FULL')])
    expect(await countKeys(db)).toBe(3)

    await leaveRoomFor(db, 1_000)
    expect(statuses(await storeKeys(db, [4, 5]))).toEqual(['fulfilled', 'fulfilled'])
    expect(await countKeys(db)).toBe(5)
  })

  test('makes the whole group commit fail even if the operation catches the error of its statement', async () => {
    const { db } = await openTestDatabase()
    await db.write((tx) => insertMerchant(tx, merchantRow(1)))
    await Promise.all([leaveRoomFor(db, 10), db.write(() => {})])

    const outcome = await Promise.allSettled([
      db.write((tx) => insertMerchant(tx, merchantRow(2))),
      db.write(async (tx) => {
        await attempt(() => insertKey(tx, keyRow(1))).catch(() => {})
        await attempt(() => insertMerchant(tx, merchantRow(3))).catch(() => {})
      }),
      db.write((tx) => insertMerchant(tx, merchantRow(4))),
    ])

    expect(outcome).toEqual(upTo(3).map(() => unavailable('SQLITE_FULL')))
    expect(await rawQuery(sql`select name from merchants`)(db)).toEqual([{ name: 'Merchant 1' }])
  })

  test('causes a 503, and a retry with the same idempotency key succeeds once there is space', async () => {
    const app = await startApp('sqlite')
    await app.wallet({ balance: '100000' })
    await leaveRoomFor(app.db, 4)
    const pay = (number: number) =>
      app.rest('POST', '/api/payouts/banks', { body: payoutBody, headers: { 'idempotency-key': `"key ${number}"` } })

    let number = 1
    while ((await pay(number)).status === 200) number++
    const refused = await pay(number)

    expect(refused.body.error.code).toBe('UNAVAILABLE')
    expect(refused.status).toBe(503)
    const payouts = await payoutList.page(app.context(), {})
    expect(payouts.total).toBe(number - 1)
    await app.expectBooksToBalance()

    await leaveRoomFor(app.db, 100)
    const paid = await pay(number)
    expect(paid.status).toBe(200)
    expect(paid.body.data.balance).toBe(`${100_000 - 40 * number}.00000000`)
    await app.expectBooksToBalance()
  })

  test('on a real file system has the same effects as the simulated full disk', async ({ skip }) => {
    const folder = mountSmallDisk(4)
    skip(folder === null, 'only root can mount a small disk: the disk was not filled in truth')
    const filler = join(String(folder), 'filler')
    const db = await openTestDatabaseAt(join(String(folder), 'test.sqlite'))
    await db.write((tx) => insertMerchant(tx, merchantRow(1)))

    let stored = 0
    let outcomes = await storeKeys(db, [1])
    while (outcomes[0]?.status === 'fulfilled' && stored < 100) {
      stored++
      if (stored === 5) fillDisk(filler)
      outcomes = await storeKeys(db, [stored + 1])
    }
    expect(outcomes).toEqual([unavailable('SQLITE_FULL')])
    expect(await countKeys(db)).toBe(stored)
    expect(await storeKeys(db, [101, 102])).toEqual([unavailable('SQLITE_FULL'), unavailable('SQLITE_FULL')])

    rmSync(filler)
    expect(statuses(await storeKeys(db, [stored + 1, stored + 2]))).toEqual(['fulfilled', 'fulfilled'])
    expect(await countKeys(db)).toBe(stored + 2)
    expect(await rawQuery(sql`pragma integrity_check`)(db)).toEqual([{ integrityCheck: 'ok' }])
  })
})

test('a SQLite group commit that waits too long for another process’s lock is rejected, and later writes succeed', async () => {
  const { db, path } = await openTestDatabase()
  await db.write((tx) => insertMerchant(tx, merchantRow(1)))
  const holder = spawn(process.execPath, [join(import.meta.dirname, 'hold-lock.ts'), path])
  await once(holder.stdout, 'data')

  let isOver = false
  const storing = storeKeys(db, [1, 2, 3]).finally(() => {
    isOver = true
  })
  for (let read = 0; read < 10; read++) expect(await countKeys(db)).toBe(0)
  expect(isOver).toBe(false)
  expect(await storing).toEqual(upTo(3).map(() => unavailable('SQLITE_BUSY')))
  const waiting = storeKeys(db, [4])
  holder.stdin.end()
  expect(statuses(await waiting)).toEqual(['fulfilled'])
  expect(await countKeys(db)).toBe(1)
})

test('a SQLite commit that fails with an I/O error ends the process, and every acknowledged write is stored', async ({
  skip,
}) => {
  const { path } = await openTestDatabase()
  const script = join(import.meta.dirname, 'fill-file.ts')
  const limited = promisify(execFile)('prlimit', ['--fsize=2000000', process.execPath, script, path])
  const failure = await limited.catch((error: { code: unknown; stdout: string }) => error)
  skip('code' in failure && failure.code === 'ENOENT', 'no prlimit on this machine: no I/O error was made')

  expect(failure).toMatchObject({ code: 70 })
  expect(failure.stdout).toMatch(/\nfatal SQLITE_IOERR_WRITE\n$/)
  const acknowledged = failure.stdout.split('\n').length - 2
  const reopened = new Sqlite(path)
  onTestFinished(() => void reopened.close())
  const stored = reopened.prepare('select count(*) from idempotency_keys').pluck().get()
  expect(acknowledged).toBeGreaterThan(0)
  // The outcome of the last write is unknown.
  expect([acknowledged, acknowledged + 1]).toContain(stored)
  expect(reopened.pragma('integrity_check', { simple: true })).toBe('ok')
})

/** Mounts a tmpfs of a size in MB until the test ends; `null` without the right to mount. */
function mountSmallDisk(megabytes: number): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    rmdirSync(folder)
    return null
  }
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', folder])
    rmdirSync(folder)
  })
  return folder
}

/** Fills the rest of a disk. */
function fillDisk(path: string): void {
  const block = Buffer.alloc(64 * 1024)
  try {
    for (let i = 0; i < 10_000; i++) writeFileSync(path, block, { flag: 'a' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
