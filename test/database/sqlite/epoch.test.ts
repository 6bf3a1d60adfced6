import { setImmediate as nextTurn } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { CopyMarker } from '../../../src/database/copy/copy-side.ts'
import type { Database } from '../../../src/database/database.ts'
import { TemporarilyUnavailableError } from '../../../src/database/database.ts'
import type { Tx } from '../../../src/database/query.ts'
import { sqliteCopySide } from '../../../src/database/sqlite/sqlite-copy-side.ts'
import { writerEpoch } from '../../../src/database/sqlite/writer-epoch.ts'
import { latestSequenceNumber, takeSequenceNumber } from '../../../src/lists/sequence.ts'
import { insertMerchant } from '../../../src/modules/merchants/repository.ts'
import { openTestDatabase, openTestDatabaseAt } from '../open-test-database.ts'
import { idOf, merchantRow } from '../rows.ts'

const merchantId = idOf(1)
const takeNumber = (tx: Tx) => takeSequenceNumber(tx, merchantId, 'wallets:owner')
const latestNumber = async (db: Database) =>
  (await latestSequenceNumber(db, { merchantId, name: 'wallets:owner' }))?.latest ?? 0

const takenOver = { code: 'UNAVAILABLE', message: expect.stringContaining('taken over the database') }

/** Opens a database in two services and a command, before any takes the writer epoch. */
async function openThrice() {
  const { db: one, path } = await openTestDatabase()
  await one.write((tx) => insertMerchant(tx, merchantRow(1)))
  const [other, command] = [await openTestDatabaseAt(path), await openTestDatabaseAt(path)]
  return { one, other, command, path }
}

test('a fenced writer commits nothing, not even writes queued before another writer took the epoch', async () => {
  const { one, other, command } = await openThrice()
  const onLost = vi.fn()
  one.takeOver(onLost)
  expect(await Promise.all([one.write(takeNumber), one.write(() => {})])).toEqual([1, undefined])

  const writes = [one.write(takeNumber), one.write(takeNumber)]
  other.takeOver(() => {})

  for (const outcome of await Promise.allSettled(writes)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: takenOver })
  }
  await expect(one.write(takeNumber)).rejects.toMatchObject(takenOver)
  await expect(one.ping()).rejects.toMatchObject(takenOver)
  expect(onLost).toHaveBeenCalledTimes(1)

  expect(await other.write(takeNumber)).toBe(2)
  expect(await command.write(takeNumber)).toBe(3)
  expect(await other.write(takeNumber)).toBe(4)
  await other.ping()
  expect(await latestNumber(one)).toBe(4)
})

test('a write that waits for another process’s lock fails if a third process takes the writer epoch meanwhile', async () => {
  const { one, other, path } = await openThrice()
  one.takeOver(() => {})
  const holder = new Sqlite(path)
  onTestFinished(() => void holder.close())
  holder.exec('begin immediate')
  const write = one.write(takeNumber)
  await nextTurn()
  await nextTurn()
  holder.exec('rollback')
  other.takeOver(() => {})

  await expect(write).rejects.toMatchObject(takenOver)
  expect(await latestNumber(other)).toBe(0)
})

test('a writer that takes the writer epoch increments the epoch in the file immediately', async () => {
  const { one, path } = await openThrice()
  const inspector = new Sqlite(path, { readonly: true })
  onTestFinished(() => void inspector.close())
  const epoch = () => inspector.pragma('user_version', { simple: true }) as number
  const before = epoch()
  one.takeOver(() => {})
  expect(epoch()).toBe(before + 1)
})

test('a writer that failed to take the writer epoch writes nothing until it has taken the epoch', async () => {
  const { path } = await openTestDatabase()
  const raw = new Sqlite(path)
  const epoch = writerEpoch(raw)
  epoch.requireForWrite()

  // As on a full disk.
  raw.pragma('query_only = on')
  expect(() => epoch.take(() => {})).toThrow('readonly')
  expect(() => epoch.requireForWrite()).toThrow('has not taken over the database yet')
  epoch.requireCurrent()

  raw.pragma('query_only = off')
  epoch.take(() => {})
  epoch.requireForWrite()
  raw.close()
  epoch.take(() => {})
})

const marker: CopyMarker = {
  copyId: idOf(9),
  role: 'source',
  other: 'postgres://elsewhere/payouts',
  startedAt: '2026-01-01T00:00:00.000Z',
  completedAt: null,
  progress: null,
}

/** Opens a database in a service, in a service that can start later, and in a copy. */
async function openForCopy() {
  const { one, other, path } = await openThrice()
  const onTakenOver = vi.fn()
  one.takeOver(onTakenOver)
  const copy = sqliteCopySide(path)
  onTestFinished(() => copy.close())
  return { one, other, copy, path, onTakenOver }
}

const fenced = (reason: string) => ({
  code: 'UNAVAILABLE',
  message: expect.stringContaining('The database is being moved'),
  cause: new Error(`the database is being copied ${reason}, or was moved`),
})

describe('a SQLite database that is being copied', () => {
  test('rejects the writes of a running service, and no service can take the writer epoch', async () => {
    const { one, other, copy, onTakenOver } = await openForCopy()
    await copy.fence(marker)

    await expect(one.write(takeNumber)).rejects.toMatchObject(fenced('to postgres://elsewhere/payouts'))
    await expect(one.ping()).rejects.toMatchObject(fenced('to postgres://elsewhere/payouts'))
    expect(() => other.takeOver(() => {})).toThrow('The database is being moved')
    expect(onTakenOver).not.toHaveBeenCalled()
    expect(await latestNumber(one)).toBe(0)
  })

  test('can be opened later, so a starting service retries', async () => {
    const { copy, path } = await openForCopy()
    await copy.fence(marker)
    const raw = new Sqlite(path)
    onTestFinished(() => void raw.close())

    expect(() => writerEpoch(raw).take(() => {})).toThrow(TemporarilyUnavailableError)
  })

  test('reports the source if the database is the target of the copy', async () => {
    const { one, copy } = await openForCopy()
    await copy.fence({ ...marker, role: 'target' })

    await expect(one.write(takeNumber)).rejects.toMatchObject(fenced('from postgres://elsewhere/payouts'))
  })

  test('rejects writes even if the name of the other database is not stored', async () => {
    const { one, path } = await openForCopy()
    const raw = new Sqlite(path)
    onTestFinished(() => void raw.close())
    raw.pragma('user_version = -2')

    await expect(one.write(takeNumber)).rejects.toMatchObject(fenced('to another'))
  })

  test.each([
    ['an interrupted copy continues', 2],
    ['a copy ends', 1],
  ])('stays closed to a service that started before the copy even after %s', async (_, fences) => {
    const { one, other, copy, onTakenOver } = await openForCopy()
    for (let i = 0; i < fences; i++) await copy.fence(marker)
    await copy.unfence(null)

    await expect(one.write(takeNumber)).rejects.toMatchObject(takenOver)
    expect(onTakenOver).toHaveBeenCalledTimes(1)
    other.takeOver(() => {})
    expect(await other.write(takeNumber)).toBe(1)
  })
})
