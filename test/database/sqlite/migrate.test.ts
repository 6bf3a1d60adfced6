import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { migrations } from '../../../db/migrations/index.ts'
import { openDatabase } from '../../../src/app/open-database.ts'
import { openTestDatabase } from '../open-test-database.ts'

const names = migrations.map(({ name }) => name)

const open = (path: string) => openDatabase({ url: `sqlite:${path}`, onFatal: () => {} })

/** Runs SQL on the file from another connection. */
function runSql(path: string, text: string): unknown[] {
  const database = new Sqlite(path)
  try {
    const statement = database.prepare(text)
    return statement.reader ? statement.pluck().all() : [statement.run()]
  } finally {
    database.close()
  }
}

test('several processes that open the same new file simultaneously all succeed and migrate the file once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const script = join(import.meta.dirname, 'open-files.ts')
  const path = join(folder, 'test.sqlite')
  // Many files, because the race is short.
  const files = 25

  const openers = [1, 2, 3, 4].map(() => spawn(process.execPath, [script, path, String(files)], { stdio: 'pipe' }))
  await Promise.all(openers.map(({ stdout }) => once(stdout, 'data')))
  const opened = openers.map(async (opener) => {
    opener.stdin.end()
    return await Promise.all([once(opener.stdout, 'data').then(String), once(opener, 'close')])
  })

  expect(await Promise.all(opened)).toEqual(openers.map(() => ['opened\n', [0, null]]))
  for (let file = 1; file <= files; file++) {
    expect(runSql(`${path}${file}`, 'select name from migrations order by name')).toEqual(names)
    const codes = runSql(`${path}${file}`, 'select code from asset_codes order by code')
    expect(codes).toEqual(['CAD', 'EUR', 'GBP', 'NGN', 'USD', 'USDC', 'USDT', 'ZAR'])
  }
})

test('opening a new file waits while another process locks the file for a short time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'test.sqlite')
  // SQLite waits within one blocking call, so the lock ends by itself.
  const holder = spawn(process.execPath, [join(import.meta.dirname, 'hold-lock.ts'), path, '300'])
  await once(holder.stdout, 'data')

  const db = await open(path)
  await db.close()

  expect(runSql(path, 'select name from migrations order by name')).toEqual(names)
})

test('opening a migrated file again changes nothing', async () => {
  const { db, path } = await openTestDatabase()
  const applied = runSql(path, 'select name || applied_at from migrations')
  await db.close()

  const again = await open(path)
  await again.close()

  expect(runSql(path, 'select name || applied_at from migrations')).toEqual(applied)
})

test('opening a file of a later version fails and leaves the file unchanged', async () => {
  const { db, path } = await openTestDatabase()
  await db.close()
  runSql(path, `insert into migrations values ('9999-later', '2030-01-01T00:00:00.000Z')`)

  await expect(open(path)).rejects.toThrow(
    'the database has migration 9999-later, which this version does not know: use a later one',
  )
  expect(runSql(path, 'select name from migrations order by name')).toEqual([...names, '9999-later'])
})

test('a failing migration leaves the file unchanged', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'test.sqlite')
  // One of our tables exists already, so the eighth migration fails.
  runSql(path, 'create table accounts (id text)')
  runSql(path, 'create table migrations (name text, applied_at text)')
  runSql(path, `insert into migrations values ('0001-merchants', '')`)

  await expect(open(path)).rejects.toThrow('table "accounts" already exists')
  expect(runSql(path, `select name from sqlite_schema`)).toEqual(['accounts', 'migrations'])
})

test('opening a file that is not a database fails', async () => {
  const path = import.meta.filename

  await expect(open(path)).rejects.toThrow('file is not a database')
})

test('migrations are numbered consecutively from 1', () => {
  expect(names).toEqual(names.toSorted())
  expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, i) => i + 1))
})

test.each(['postgres:', 'mysql://localhost/x', 'sqlite:', 'db/payouts.sqlite', ''])(
  'openDatabase rejects the URL %j',
  async (url) => {
    await expect(openDatabase({ url, onFatal: () => {} })).rejects.toThrow('DATABASE_URL must be sqlite:<path>')
  },
)
