import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { migrations } from '../../db/migrations/index.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { listBackups } from '../../src/app/scheduled-backups.ts'
import { migratePostgres } from '../../src/database/postgres/migrate-postgres.ts'
import { demoPayoutCount } from '../../src/demo/demo-history.ts'
import type { Diagnosis } from '../../src/modules/diagnoses/diagnosis.ts'
import { createService } from '../../src/operations/context.ts'
import { sealAll } from '../modules/hash-chain/support/tamperings.ts'
import { newPostgresDatabase } from '../support/postgres-database.ts'
import type { PostgresServer } from '../support/postgres-server.ts'
import { nonDurableSettings, startSystemServer, systemBinaries } from '../support/postgres-server.ts'
import { cli, createEmptyInstallation, startService } from '../support/process.ts'

/** The npm package of the tests' server has no pg_dump: where the system has none either, nothing is known of backups. */
const binaries = inject('postgresUrl') === null ? null : systemBinaries()
if (inject('postgresUrl') !== null && binaries === null) {
  const message = 'NO TEST MAKES A BACKUP OF POSTGRESQL: apt-get install postgresql has the server and pg_dump'
  if (process.env.CI) throw new Error(message)
  process.stderr.write(`\n*** ${message} ***\n\n`)
}

describe.skipIf(binaries === null)('backups of PostgreSQL', () => {
  let server: PostgresServer
  let databases = 0

  beforeAll(async () => {
    vi.stubEnv('PATH', `${binaries}:${process.env.PATH}`)
    server = await startSystemServer(binaries as string, nonDurableSettings)
    await asAdmin(`create role payouts login password 'it''s: secret'`)
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await server.remove()
  })

  async function asAdmin(text: string, database = 'postgres'): Promise<void> {
    const client = new pg.Client(server.url(database))
    await client.connect()
    await client.query(text).finally(() => client.end())
  }

  /** An empty database of the user that the pages advise: it owns that and nothing else, and row-level security binds it. */
  async function newPlace(environment: Record<string, string> = {}) {
    const name = `payouts_${++databases}`
    await asAdmin(`create database ${name} owner payouts`)
    const url = Object.assign(new URL(server.url(name)), { username: 'payouts', password: `it's: secret` })
    return {
      ...(await createEmptyInstallation({ DATABASE_URL: url.href, PATH: `${process.env.PATH}`, ...environment })),
      name,
    }
  }

  /** Creates such a database with sealed payouts of two merchants. */
  async function filledPlace(environment: Record<string, string> = {}) {
    const place = await newPlace(environment)
    expect(await cli(place, 'demo')).toMatchObject({ code: 0 })
    const sizes = ['--merchants', '1', '--customers', '3', '--methods', '3', '--wallets', '3', '--payouts', '20']
    expect(await cli(place, 'fill', ...sizes)).toMatchObject({ code: 0 })
    const db = await openDatabase({ url: place.env.DATABASE_URL, onFatal: () => {} })
    await sealAll(createService({ db, mode: 'sandbox' }))
    await db.close()
    return place
  }

  const rootOf = async (place: Awaited<ReturnType<typeof newPlace>>) => {
    const { json } = await cli(place, 'audit', '--chain', '--json')
    return json() as { balanced: boolean; chain: { root: string; events: number } }
  }

  test('that the database owner makes are complete: a restored database has the same books and the same hash chain', async () => {
    const place = await filledPlace()
    const file = join(place.folder, 'payouts.dump')
    const backup = await cli(place, 'backup', file)
    expect([backup.code, backup.stderr]).toEqual([0, ''])
    expect([readdirSync(place.folder), statSync(file).mode & 0o777]).toEqual([['payouts.dump'], 0o600])
    expect((await cli(place, 'backup', file)).stderr).toContain('exists already')

    const other = await newPlace()
    const restored = await cli(other, 'restore', file, '--json')

    expect([restored.code, restored.json()]).toEqual([
      0,
      { file: expect.stringMatching(`127.0.0.1:\\d+/${other.name}`), kept: null },
    ])
    const { wallets, ...books } = (await cli(place, 'audit', '--json')).json() as { wallets: object }
    expect((await cli(other, 'audit', '--json')).json()).toMatchObject({
      ...books,
      wallets,
      balanced: true,
      payouts: demoPayoutCount + 20,
    })
    const [before, after] = [await rootOf(place), await rootOf(other)]
    expect(after).toEqual(before)
    expect(before.chain.events).toBeGreaterThan(20)
    const refused = await cli(other, 'restore', file)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/is not empty: it has .* create one/)])
  })

  test.each<[what: string, tool: string, message: string | RegExp]>([
    ['pg_dump fails', 'echo no such luck >&2; exit 1', 'no such luck'],
    [
      'the copy lacks rows',
      `exec ${binaries}/pg_dump "$@" --exclude-table-data=payouts`,
      `public.payouts has no of ${demoPayoutCount + 20} rows`,
    ],
    ['pg_dump is older than the server', 'echo "pg_dump (PostgreSQL) 9.6.24"', /pg_dump has version 9, older than the/],
  ])('are rejected and leave no file behind if %s', async (_, tool, message) => {
    const place = await filledPlace()
    const folder = join(place.folder, 'bin')
    mkdirSync(folder)
    const isVersion = tool.startsWith('echo "') ? '' : `[ "$1" = --version ] && exec ${binaries}/pg_dump --version\n`
    writeFileSync(join(folder, 'pg_dump'), `#!/bin/sh\n${isVersion}${tool}\n`)
    chmodSync(join(folder, 'pg_dump'), 0o755)
    const before = process.env.PATH
    vi.stubEnv('PATH', `${folder}:${before}`)
    onTestFinished(() => void vi.stubEnv('PATH', before))

    const { code, stderr } = await cli(place, 'backup', join(place.folder, 'payouts.dump'))

    expect([code, stderr]).toEqual([1, expect.stringMatching(message)])
    expect(readdirSync(place.folder)).toEqual(['bin'])
  })

  test('are not written if a row-level security policy may hide rows', async () => {
    const place = await filledPlace()
    await asAdmin('alter policy one_merchant on payouts using (merchant_id is null)', place.name)

    const { code, stderr } = await cli(place, 'backup', join(place.folder, 'payouts.dump'))

    expect([code, stderr]).toEqual([1, expect.stringContaining('may hide rows of payouts, so nothing was copied')])
    expect(readdirSync(place.folder)).toEqual([])
  })

  test('are rejected by `restore` if their schema differs, and the target database stays empty', async () => {
    const place = await filledPlace()
    await asAdmin('drop trigger transfers_no_delete on transfers; drop index payouts_by_idempotency_key', place.name)
    const file = join(place.folder, 'payouts.dump')
    expect(await cli(place, 'backup', file)).toMatchObject({ code: 0 })
    const other = await newPlace()

    const { code, stderr } = await cli(other, 'restore', file)

    expect([code, stderr]).toEqual([1, expect.stringContaining('trigger transfers_no_delete on transfers is missing')])
    expect(stderr).toContain('index payouts_by_idempotency_key on payouts is missing')
    const good = join(place.folder, 'good.dump')
    expect(await cli(await filledPlace(), 'backup', good)).toMatchObject({ code: 0 })
    expect(await cli(other, 'restore', good)).toMatchObject({ code: 0 })
  })

  test('are rejected by `restore` if the file is missing or invalid, or if --replace is given', async () => {
    const place = await newPlace()
    const file = join(place.folder, 'payouts.dump')
    expect((await cli(place, 'restore', file)).stderr).toMatch(/The file \S+ does not exist/)
    writeFileSync(file, 'precious')
    expect((await cli(place, 'restore', file)).stderr).toContain('is not a backup of a PostgreSQL database')
    expect((await cli(place, 'restore', file, '--replace')).stderr).toContain('--replace is for SQLite')
  })

  test('are written by `migrate --backup` before it changes the database', async () => {
    const place = await newPlace()
    const client = new pg.Client(place.env.DATABASE_URL)
    await client.connect()
    await migratePostgres(client, migrations.slice(0, -3), { mustExist: false })
    await client.end()
    const file = join(place.folder, 'before.dump')

    expect(await cli(place, 'migrate', '--backup', file)).toMatchObject({ code: 0 })

    const other = await newPlace()
    expect((await cli(other, 'restore', file)).code).toBe(0)
    expect(existsSync(file)).toBe(true)
  })

  test('are made on one schedule for all processes when BACKUP_DIR is set, and `doctor` checks them', async () => {
    const place = await filledPlace({ BACKUP_EVERY: '1s', BACKUP_KEEP: '2', WORKERS: '2', PORT: '0' })
    const folder = join(place.folder, 'backups')
    mkdirSync(folder)
    const env = { ...place.env, BACKUP_DIR: folder }
    const daily = { ...env, BACKUP_EVERY: '1d' }
    const look = async () =>
      ((await cli({ ...place, env: daily }, 'doctor', '--json')).json() as Diagnosis[]).find(
        ({ check }) => check === 'backups',
      )
    expect(await look()).toMatchObject({ state: 'warning' })

    const { child, ended } = await startService({ ...place, env })
    const named = `${place.name}.dump`
    await expect.poll(() => listBackups(folder, named)[0]?.number ?? 0, { timeout: 240_000 }).toBeGreaterThan(1)
    child.kill('SIGTERM')
    await ended

    const keptBackups = listBackups(folder, named)
    expect(new Set(keptBackups.map(({ number }) => number)).size).toBe(keptBackups.length)
    expect(
      readFileSync(keptBackups[0]?.path as string)
        .subarray(0, 5)
        .toString(),
    ).toBe('PGDMP')
    expect(await look()).toMatchObject({ state: 'ok' })
  })
})

describe.skipIf(inject('postgresUrl') === null)('a backup of PostgreSQL', () => {
  test('fails if pg_dump is missing, and reports what to install', async () => {
    const { url, remove } = await newPostgresDatabase()
    onTestFinished(remove)
    vi.stubEnv('PATH', '/nowhere')
    onTestFinished(() => void vi.unstubAllEnvs())
    const place = await createEmptyInstallation({ DATABASE_URL: url })

    const { code, stderr } = await cli(place, 'backup', join(place.folder, 'payouts.dump'))

    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('pg_dump was not found: install the PostgreSQL client tools'),
    ])
    expect(readdirSync(place.folder)).toEqual([])
  })
})
