import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { allMerchants, insertMerchant } from '../../../src/modules/merchants/repository.ts'
import { openTestDatabase } from '../open-test-database.ts'
import { merchantRow } from '../rows.ts'

/** Creates a database with one merchant, and a path for its copy. */
async function startDatabase() {
  const { db, path } = await openTestDatabase()
  await db.write((tx) => insertMerchant(tx, merchantRow(1)))
  return { db, target: join(dirname(path), 'copy.sqlite') }
}

function namesIn(path: string): unknown[] {
  const copy = new Sqlite(path, { readonly: true })
  onTestFinished(() => void copy.close())
  expect(copy.pragma('integrity_check', { simple: true })).toBe('ok')
  return copy.prepare('select name from merchants order by id').pluck().all()
}

test('a SQLite backup has all committed rows, even if another read has already started in the same turn of the event loop', async () => {
  const { db, target } = await startDatabase()

  await allMerchants(db, {})
  await db.backup(target)

  expect(namesIn(target)).toEqual(['Merchant 1'])
  expect(existsSync(`${target}.partial`)).toBe(false)
  expect(await allMerchants(db, {})).toHaveLength(1)
})

test('a SQLite backup succeeds while the database accepts writes', async () => {
  const { db, target } = await startDatabase()

  const written = db.write((tx) => insertMerchant(tx, merchantRow(2)))
  await db.backup(target)
  await written

  expect(namesIn(target)[0]).toBe('Merchant 1')
  expect(await allMerchants(db, {})).toHaveLength(2)
})

test('a SQLite backup never replaces an existing file', async () => {
  const { db, target } = await startDatabase()
  writeFileSync(target, 'precious')

  await expect(db.backup(target)).rejects.toThrow('exists already')
})

test('a SQLite backup overwrites the partial file of an earlier attempt', async () => {
  const { db, target } = await startDatabase()
  writeFileSync(`${target}.partial`, 'half a copy')

  await db.backup(target)

  expect(namesIn(target)).toEqual(['Merchant 1'])
})
