import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../../src/app/open-database.ts'
import type { Database } from '../../../src/database/database.ts'
import { installationRow } from '../../../src/modules/installation/repository.ts'
import { describePostgres } from '../../support/engines.ts'
import { corruptPostgresDatabase, newPostgresDatabase, runSql } from '../../support/postgres-database.ts'
import { cli, cliProcess, createEmptyInstallation, startService } from '../../support/process.ts'
import { rawQuery } from '../rows.ts'

async function newPlace({ isMigrated = true } = {}): Promise<string> {
  const { url, remove } = await newPostgresDatabase({ isMigrated })
  corruptPostgresDatabase(url)
  onTestFinished(remove)
  return url
}

async function open(url: string): Promise<Database> {
  const onFatal = (error: Error) => {
    throw error
  }
  const db = await openDatabase({ url, onFatal })
  onTestFinished(() => db.close())
  return db
}

describePostgres('opening a PostgreSQL database', {}, () => {
  test('a new PostgreSQL database is migrated once when several processes start simultaneously', async () => {
    const DATABASE_URL = await newPlace({ isMigrated: false })
    const place = await createEmptyInstallation({ DATABASE_URL })

    const databases = await Promise.all(
      ['Acme', 'Beta', 'Gamma'].map((name) => cliProcess(place, 'merchant', 'create', name, '--json')),
    )

    expect(databases.map(({ code, stderr }) => [code, stderr])).toEqual(Array(3).fill([0, '']))
    const listed = await cli(place, 'merchant', 'list', '--json')
    expect(listed.json()).toHaveLength(3)
  })

  test('the commands `fill` and `audit` work on PostgreSQL', async () => {
    const place = await createEmptyInstallation({ DATABASE_URL: await newPlace() })
    const filled = await cli(
      place,
      'fill',
      '--customers',
      '5',
      '--methods',
      '5',
      '--wallets',
      '5',
      '--payouts',
      '50',
      '--json',
    )
    expect([filled.code, (filled.json() as unknown[]).length]).toEqual([0, 1])

    const audited = await cli(place, 'audit', '--json')
    expect(audited.json()).toMatchObject({ balanced: true, payouts: 50 })
  })

  test('a command that needs existing data rejects a PostgreSQL database without tables', async () => {
    const place = await createEmptyInstallation({ DATABASE_URL: await newPlace({ isMigrated: false }) })

    const audited = await cli(place, 'audit')

    expect([audited.code, audited.stderr]).toEqual([1, expect.stringContaining('no tables of this service')])
  })

  test('a PostgreSQL database of a later version is not opened', async () => {
    const url = await newPlace()
    await runSql(url, `insert into migrations values ('9999-later', now())`)

    await expect(open(url)).rejects.toThrow('migration 9999-later, which this version does not know')
  })

  test('the error for a PostgreSQL database that does not exist has the name of the database and not the password', async () => {
    const url = new URL(await newPlace())
    url.password = 'secret'
    url.pathname = '/missing'

    const refusal = await open(url.href).catch((error: Error) => error.message)
    expect(refusal).toMatch(/^127\.0\.0\.1:\d+\/missing can't be opened: /)
    expect(refusal).not.toContain('secret')
  })

  test.each([
    ['off', 'on'],
    ['local', 'on'],
    ['remote_write', 'on'],
    ['on', 'on'],
    ['remote_apply', 'remote_apply'],
  ])(
    'for a PostgreSQL database with synchronous_commit = %s, the service uses sessions with synchronous_commit = %s',
    async (given, expected) => {
      const url = await newPlace()
      const [{ name } = { name: '' }] = await runSql<{ name: string }>(url, 'select current_database() as name')
      await runSql(url, `alter database ${name} set synchronous_commit = ${given}`)
      const db = await open(url)

      const inSession = rawQuery(sql`select current_setting('synchronous_commit') as value`)
      expect(await inSession(db)).toEqual([{ value: expected }])
      expect(await db.write((tx) => inSession(tx))).toEqual([{ value: expected }])
    },
  )

  // The server of the tests runs without durability.
  test('a PostgreSQL server without durable commits is rejected in live mode, and causes a warning in the sandbox', async () => {
    const DATABASE_URL = await newPlace({ isMigrated: false })
    const loss = 'The PostgreSQL server has fsync = off and full_page_writes = off'
    const live = await createEmptyInstallation({ DATABASE_URL, MODE: 'live' })
    expect((await cli(live, 'migrate')).stderr).toContain(`${loss}: a crash can lose acknowledged commits`)
    await expect(startService(live)).rejects.toThrow(loss)
    expect(await runSql(DATABASE_URL, `select to_regclass('migrations') as name`)).toEqual([{ name: null }])

    const { child, ended } = await startService(await createEmptyInstallation({ DATABASE_URL }))
    child.kill('SIGTERM')
    expect((await ended).stdout).toContain(loss)
  })

  test('operations beyond the queue limit of PostgreSQL are rejected with UNAVAILABLE, and the other operations succeed', async () => {
    const db = await open(`${await newPlace()}?pool=1&queue=3`)

    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => db.snapshot((read) => installationRow(read, {}))),
    )

    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
    expect(new Set(refused)).toEqual(new Set(['UNAVAILABLE']))
    await db.ping()
  })
})
