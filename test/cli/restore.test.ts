import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { demoPayoutCount } from '../../src/demo/demo-history.ts'
import type { TestInstallation } from '../support/process.ts'
import {
  cli,
  createDemoInstallation,
  createEmptyInstallation,
  createLiveInstallation,
  startService,
} from '../support/process.ts'

const program = resolve(import.meta.dirname, '../../src/cli/cli.ts')

/** Creates a backup of the demo, and an empty place for it. */
async function demoBackup(environment: Record<string, string> = {}) {
  const place = await createEmptyInstallation(environment)
  const backup = join(place.folder, 'backup.sqlite')
  expect(await cli(await createDemoInstallation(), 'backup', backup)).toMatchObject({ code: 0 })
  return { place, backup }
}

/** Corrupts a file directly. */
function spoil(path: string, sql: string): void {
  const database = new Sqlite(path)
  database.exec(sql)
  database.close()
}

/** Flips a bit of a currency in an index; the row itself is intact. */
function turnBitInIndex(path: string): void {
  const { merchant } = readRow(path, 'select id as merchant from merchants')
  const file = readFileSync(path)
  const place = file.indexOf(`${merchant}USDC`) + String(merchant).length + 3
  expect(place).toBeGreaterThan(100)
  file[place] = Number(file[place]) ^ 1
  writeFileSync(path, file)
}

function readRow(path: string, sql: string): Record<string, unknown> {
  // Not read-only, which would leave an empty WAL behind.
  const database = new Sqlite(path)
  try {
    return database.prepare(sql).get() as Record<string, unknown>
  } finally {
    database.close()
  }
}

const payouts = (path: string) => readRow(path, 'select count(*) as count from payouts').count

describe('`restore`', () => {
  test('copies a backup to a new database that only its owner can read, and does not delete the backup', async () => {
    const { place, backup } = await demoBackup()

    const restored = await cli(place, 'restore', backup, '--json')

    expect([restored.code, restored.json()]).toEqual([0, { file: place.file, kept: null }])
    expect(readdirSync(place.folder).sort()).toEqual(['backup.sqlite', 'payouts.sqlite'])
    expect(statSync(place.file).mode & 0o777).toBe(0o600)
    expect((await cli(place, 'audit', '--json')).json()).toMatchObject({ balanced: true, payouts: demoPayoutCount })
    expect((await startService(place)).greeting).toContain('is ready')
  })

  test('replaces a database only with --replace, and keeps the old database under another name', async () => {
    const { place, backup } = await demoBackup()
    await cli(place, 'merchant', 'create', 'Of before')
    const before = readFileSync(place.file)

    const refused = await cli(place, 'restore', backup)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('exists already: --replace')])
    expect(readFileSync(place.file)).toEqual(before)

    const { kept } = (await cli(place, 'restore', backup, '--replace', '--json')).json() as { kept: string }
    expect(kept).toMatch(/payouts\.sqlite\.\d{8}T\d{6}\.\d{3}Z$/)
    expect(readFileSync(kept)).toEqual(before)
    expect(payouts(place.file)).toBe(demoPayoutCount)
  })

  test('does not replace a database that a service has open, or that has the WAL of a killed service', async () => {
    const { place, backup } = await demoBackup()
    const { child } = await startService(place)

    const beside = await cli(place, 'restore', backup, '--replace')
    expect([beside.code, beside.stderr]).toEqual([
      1,
      expect.stringMatching(new RegExp(`: process ${child.pid} \\(.*src/app/main.ts\\) has it open. End it first.`)),
    ])
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    expect((await cli(place, 'restore', backup, '--replace')).stderr).toContain('applies the journal')

    expect(await cli(place, 'audit')).toMatchObject({ code: 0 })
    expect(await cli(place, 'restore', backup, '--replace')).toMatchObject({ code: 0 })
  })

  test('fails while a console uses the database, and reports the process id of the console', async () => {
    const { place, backup } = await demoBackup()
    await cli(place, 'migrate')
    const console = spawn(process.execPath, [program, 'console'], {
      env: place.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    onTestFinished(() => void console.kill('SIGKILL'))
    await once(console.stdout, 'data')

    const { code, stderr } = await cli(place, 'restore', backup, '--replace')

    const named = new RegExp(`: process ${console.pid} \\(.*src/cli/cli.ts console\\) has it open. End it first.`)
    expect([code, stderr]).toEqual([1, expect.stringMatching(named)])
  })

  // In order of precedence.
  test.each<[what: string, spoilt: (backup: string) => void, message: string | RegExp]>([
    ['does not exist', (backup) => spoil(`${backup}.other`, ''), /The file .*missing.* does not exist/],
    ['is not a SQLite database', (backup) => writeFileSync(backup, 'precious '.repeat(100)), 'is not a SQLite file'],
    [
      'is truncated',
      (backup) => truncateSync(backup, statSync(backup).size - 4_096),
      /is truncated: it has \d+ of \d+ bytes/,
    ],
    ['is damaged', turnBitInIndex, /is damaged: row \d+ missing from index \w+/],
    ['belongs to another application', anothersDatabase, 'the database of another program'],
    [
      'was made by a later version',
      (backup) => spoil(backup, `insert into migrations values ('9999-later', '2030-01-01T00:00:00.000Z')`),
      'is of a later version: it has migration 9999-later',
    ],
    [
      'has the other mode',
      (backup) => spoil(backup, `update installation set mode = 'live'`),
      'is of MODE=live, not sandbox',
    ],
    [
      'has inconsistent books',
      (backup) => spoil(backup, 'update accounts set balance = balance - 1 where balance > 0'),
      /failed the audit: the check "every balance equals the sum of its ledger entries" failed, for example for /,
    ],
    [
      'lacks a trigger',
      (backup) => spoil(backup, 'drop trigger transfers_no_delete'),
      'The schema of .* is not that of this version: trigger transfers_no_delete on transfers is missing',
    ],
    [
      'lacks a unique index',
      (backup) => spoil(backup, 'drop index payouts_by_idempotency_key'),
      'index payouts_by_idempotency_key on payouts is missing',
    ],
    [
      'has an unknown trigger',
      (backup) =>
        spoil(backup, `create trigger stop before insert on payouts begin select raise(abort, 'stopped'); end`),
      'trigger stop on payouts is not part of the schema',
    ],
    ['is in use', (backup) => writeFileSync(`${backup}-wal`, ''), 'is a database in use'],
  ])('rejects a backup that %s, and leaves the database unchanged', async (what, spoilt, message) => {
    const { place, backup } = await demoBackup()
    await cli(place, 'migrate')
    const before = readFileSync(place.file)
    spoilt(backup)
    const names = readdirSync(place.folder)

    const { code, stderr } = await cli(
      place,
      'restore',
      what === 'does not exist' ? `${backup}.missing` : backup,
      '--replace',
    )

    expect([code, stderr]).toEqual([1, expect.stringMatching(message)])
    expect(readdirSync(place.folder)).toEqual(names)
    expect(readFileSync(place.file)).toEqual(before)
  })

  test('rejects a sandbox backup in live mode, the database itself as the backup, and a missing database folder', async () => {
    const { backup } = await demoBackup()
    const live = await createLiveInstallation()
    expect((await cli(live, 'restore', backup, '--replace')).stderr).toContain('is of MODE=sandbox, not live')
    expect((await cli(live, 'restore', live.file, '--replace')).stderr).toContain('is the database itself')
    const nowhere = await createEmptyInstallation()
    const env = { ...nowhere.env, DATABASE_URL: `sqlite:${nowhere.folder}/missing/payouts.sqlite` }
    expect((await cli({ ...nowhere, env }, 'restore', backup)).stderr).toContain('does not exist: DATABASE_URL must')
  })

  test('migrates a backup of an earlier version', async () => {
    const { place, backup } = await demoBackup()
    // The change of the last migration.
    spoil(backup, `drop table trusted_documents; delete from migrations where name like '%-trusted-documents'`)

    expect(await cli(place, 'restore', backup)).toMatchObject({ code: 0 })
    expect(await cli(place, 'documents', 'list')).toMatchObject({ code: 0, stderr: '' })
  })

  test.each([1, 2, 3, 5, 8, 13])(
    'killed at file operation %i leaves a complete database, and the next `restore` removes partial files',
    async (last) => {
      const { place, backup } = await demoBackup()
      await cli(place, 'merchant', 'create', 'Of before')

      await killedAtChange(place, backup, last)

      // Either the complete old file or the complete new one.
      const { json } = await cli(place, 'audit', '--json')
      expect(json()).toMatchObject({ balanced: true })
      expect([0, 6]).toContain(payouts(place.file))
      // The next restore succeeds and removes leftovers.
      expect(await cli(place, 'restore', backup, '--replace')).toMatchObject({ code: 0 })
      expect(payouts(place.file)).toBe(demoPayoutCount)
      expect(readdirSync(place.folder).filter((name) => name.includes('restoring'))).toEqual([])
      expect(existsSync(backup)).toBe(true)
    },
  )
})

function anothersDatabase(backup: string): void {
  copyFileSync(backup, `${backup}.before`)
  truncateSync(backup)
  spoil(backup, 'create table bookmarks (url text)')
}

/** Kills the command's process group after that many changes in the database folder. */
async function killedAtChange(place: TestInstallation, backup: string, last: number): Promise<void> {
  const child = spawn(process.execPath, [program, 'restore', backup, '--replace'], { env: place.env })
  const ended = once(child, 'exit')
  let changes = 0
  const watcher = watch(place.folder, () => {
    if (++changes === last) child.kill('SIGKILL')
  })
  await ended
  // On a busy machine the command may finish before the change is noticed.
  await expect.poll(() => changes).toBeGreaterThanOrEqual(last)
  watcher.close()
}
