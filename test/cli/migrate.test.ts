import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { migrations } from '../../db/migrations/index.ts'
import { migratePostgres } from '../../src/database/postgres/migrate-postgres.ts'
import { migrateSqlite } from '../../src/database/sqlite/migrate-sqlite.ts'
import { describePostgres } from '../support/engines.ts'
import { corruptPostgresDatabase, newPostgresDatabase } from '../support/postgres-database.ts'
import { cli, createEmptyInstallation } from '../support/process.ts'

const names = migrations.map(({ name }) => name)
// The last release before a migration that rewrites rows.
const released = names.indexOf('0027-payout-event-numbers') + 1

/** Returns the applied migrations of a file, latest last. */
function appliedAt(path: string): unknown[] {
  const database = new Sqlite(path)
  try {
    return database.prepare('select name from migrations order by name').pluck().all()
  } finally {
    database.close()
  }
}

/** Creates a file of an earlier version. */
async function oldPlace() {
  const place = await createEmptyInstallation()
  const database = new Sqlite(place.file)
  migrateSqlite(database, migrations.slice(0, released))
  database.close()
  return place
}

test('`migrate` explains its changes to an existing database, and how to back up the database first', async () => {
  const place = await oldPlace()
  const { code, stderr } = await cli(place, 'migrate')

  expect(code).toBe(0)
  expect(stderr).toContain(`migrated from ${names[released - 1]} to ${names.at(-1)}`)
  expect(stderr).toContain('This rewrites every ledger transfer, whose entries move into its own row')
  expect(stderr).toContain('`npm run -s cli -- migrate --backup <file>`')
  expect(appliedAt(place.file)).toEqual(names)
  // No migration is pending.
  expect(await cli(place, 'migrate')).toMatchObject({ code: 0, stderr: '' })
})

test('a command that migrates a database before it runs explains how to return to the previous version', async () => {
  const place = await oldPlace()

  expect((await cli(place, 'merchant', 'list')).stderr).toContain('To go back, restore a backup from before')
})

test('`migrate --backup` copies the database before migrating, even if no migration is pending', async () => {
  const place = await oldPlace()
  const copy = join(place.folder, 'before.sqlite')
  const { code, stderr } = await cli(place, 'migrate', '--backup', copy)

  expect([code, stderr]).toEqual([0, expect.stringContaining(`backed up to ${copy} first`)])
  expect(appliedAt(copy)).toEqual(names.slice(0, released))
  expect(appliedAt(place.file)).toEqual(names)

  const later = join(place.folder, 'later.sqlite')
  expect(await cli(place, 'migrate', '--backup', later)).toMatchObject({ code: 0, stderr: '' })
  expect(appliedAt(later)).toEqual(names)
})

test('`migrate --backup` changes nothing if the copy fails', async () => {
  const place = await oldPlace()
  const missing = join(place.folder, 'missing', 'copy.sqlite')

  for (const [target, reason] of [
    [place.file, 'exists already'],
    [missing, 'no such file'],
  ] as const) {
    const { code, stderr } = await cli(place, 'migrate', '--backup', target)
    expect([code, stderr]).toEqual([1, expect.stringContaining(reason)])
    expect(appliedAt(place.file)).toEqual(names.slice(0, released))
  }
  expect(existsSync(missing)).toBe(false)
})

test('`migrate` prints nothing when it creates a new database', async () => {
  const place = await createEmptyInstallation()

  expect(await cli(place, 'migrate')).toMatchObject({ code: 0, stderr: '' })
})

describePostgres('`migrate` on PostgreSQL', {}, () => {
  test('`migrate` explains its changes on PostgreSQL, and `migrate --backup` changes nothing if pg_dump is missing', async () => {
    const { url, remove } = await newPostgresDatabase({ isMigrated: false })
    corruptPostgresDatabase(url)
    onTestFinished(remove)
    const client = new pg.Client(url)
    await client.connect()
    onTestFinished(() => client.end())
    await migratePostgres(client, migrations.slice(0, released), { mustExist: false })
    const applied = async () => Number((await client.query('select count(*) from migrations')).rows[0].count)
    const place = await createEmptyInstallation({ DATABASE_URL: url })

    vi.stubEnv('PATH', '/nowhere')
    onTestFinished(() => void vi.unstubAllEnvs())
    const refused = await cli(place, 'migrate', '--backup', join(place.folder, 'copy'))
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('pg_dump was not found')])
    expect(await applied()).toBe(released)

    const { code, stderr } = await cli(place, 'migrate')
    expect([code, stderr]).toEqual([0, expect.stringContaining('To go back, restore a backup from before')])
    expect(await applied()).toBe(names.length)
  })
})
