import { mkdirSync, readdirSync, statSync, unlinkSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import {
  listBackups,
  listUnfinishedBackups,
  nextBackupDelayMs,
  nextBackupPath,
  startBackupSchedule,
} from '../../src/app/scheduled-backups.ts'
import type { ProcessResources } from '../../src/app/start.ts'
import { createWallClock } from '../../src/core/ids-and-clock.ts'
import { demoApiKey } from '../../src/demo/demo.ts'
import type { Diagnosis } from '../../src/modules/diagnoses/diagnosis.ts'
import { smallDisk } from '../proofs/small-disk.ts'
import { payoutBody } from '../support/app.ts'
import type { TestInstallation } from '../support/process.ts'
import { cli, createDemoInstallation, createEmptyInstallation, startService } from '../support/process.ts'
import { wallTime } from '../support/times.ts'

const everyMs = 86_400_000
const startedAt = Date.parse('2026-11-23T18:45:00Z')
const patience = { timeout: 60_000 }

/** Starts a service with a backup each second, and returns its backup folder and log. */
async function scheduledPlace(environment: Record<string, string> = {}) {
  const place = await createDemoInstallation()
  const folder = join(place.folder, 'backups')
  const env = { ...place.env, BACKUP_DIR: folder, BACKUP_EVERY: '1s', BACKUP_KEEP: '2', ...environment }
  return { place: { ...place, env }, folder }
}

async function startLogged(place: TestInstallation) {
  const service = await startService(place)
  let log = ''
  service.child.stdout?.on('data', (chunk) => {
    log += chunk
  })
  return { ...service, log: () => log }
}

function pay(address: string): Promise<Response> {
  const headers = { 'x-api-key': demoApiKey, 'content-type': 'application/json' }
  const body = JSON.stringify({ ...payoutBody, amount: '1' })
  return fetch(`${address}/api/payouts/banks`, { method: 'POST', headers, body })
}

const numbersIn = (folder: string) => listBackups(folder, '/somewhere/payouts.sqlite').map(({ number }) => number)

describe('the backup schedule', () => {
  test.each([['1'], ['2']])(
    'with WORKERS=%s keeps the configured number of restorable backups and does not touch other files',
    async (workers) => {
      const { place, folder } = await scheduledPlace({ WORKERS: workers })
      mkdirSync(folder)
      const others = ['payouts-000001.sqlite', 'other-000001-20260101T000000Z.sqlite', 'notes.txt']
      for (const name of others) writeFileSync(join(folder, name), 'precious')
      writeFileSync(join(folder, 'payouts-000001-20260101T000000Z.sqlite.1.partial'), 'left by a killed one')
      const { child, ended } = await startLogged(place)

      await expect.poll(() => numbersIn(folder)[0] ?? 0, patience).toBeGreaterThan(3)
      child.kill('SIGTERM')
      expect(await ended).toMatchObject({ code: 0 })

      const [latest, ...older] = listBackups(folder, place.file)
      // One more if it ended between a backup and the removal of the oldest.
      expect([1, 2]).toContain(older.length)
      const partial = readdirSync(folder).filter((name) => name.endsWith('.partial'))
      expect(readdirSync(folder).filter((name) => !partial.includes(name))).toEqual(expect.arrayContaining(others))
      expect(partial.length).toBeLessThan(2)
      expect(statSync(latest?.path ?? '').mode & 0o777).toBe(0o600)
      const restored = await createEmptyInstallation()
      expect(await cli(restored, 'restore', latest?.path ?? '')).toMatchObject({ code: 0 })
    },
  )

  test('logs why a backup failed, does not affect requests, and makes a backup once the cause of the failure is gone', async () => {
    const { place, folder } = await scheduledPlace()
    // A file instead of a folder.
    writeFileSync(folder, '')
    const { address, log } = await startLogged(place)

    await expect.poll(log, patience).toContain('backup failed')
    expect(log()).toContain('BACKUP_DIR must be an existing folder')
    expect((await fetch(`${address}/readyz`)).status).toBe(200)
    // Replace the file by a folder.
    unlinkSync(folder)
    mkdirSync(folder)
    await expect.poll(() => numbersIn(folder).length, patience).toBeGreaterThan(0)
    await expect.poll(log, patience).toContain('backup created')
  })

  test('leaves no partial file while the disk is full, and makes a backup once there is space', async ({ skip }) => {
    const { folder } = await createEmptyInstallation()
    const disk = smallDisk(folder)
    onTestFinished(() => void disk.remove())
    // The shim fails only writes to the database.
    if (disk.kind !== 'a real file system') skip()
    const { place } = await scheduledPlace({ BACKUP_DIR: disk.place })
    disk.fill(64 * 1024)
    const { address, log } = await startLogged(place)

    await expect.poll(log, patience).toMatch(/(backup failed.*){2}/s)
    expect(log()).toContain('full')
    await expect.poll(() => readdirSync(disk.place), patience).toEqual(['filler'])
    expect((await pay(address)).status).toBe(200)
    disk.free()
    await expect.poll(() => numbersIn(disk.place).length, patience).toBeGreaterThan(0)
  })

  test('aborts a backup that takes too long, logs the failure, and starts the next backup', async () => {
    const { place, folder } = await scheduledPlace()
    mkdirSync(folder)
    const logged: unknown[] = []
    const logger = {
      error: (told: unknown) => logged.push(told),
      info: () => {},
    } as unknown as ProcessResources['logger']
    const backups = startBackupSchedule(readConfig(place.env), { wallClock: createWallClock() }, logger, 1)
    onTestFinished(backups.stop)

    await expect.poll(() => logged.length, patience).toBe(2)
    expect(logged).toMatchObject(
      Array(2).fill({ failure: expect.stringMatching(/killed because it took longer than/) }),
    )
  })

  test('leaves no partial file when the service stops during a backup', async () => {
    const { place, folder } = await scheduledPlace({ BACKUP_EVERY: '1d' })
    mkdirSync(folder)
    const begun = new Promise((resolve) => watch(folder, resolve).unref())
    const { child, ended } = await startLogged(place)

    await begun
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0 })
    // The backup is either complete or absent.
    expect(numbersIn(folder).length).toBeLessThan(2)
    expect(listUnfinishedBackups(folder, place.file)).toEqual([])
    await startLogged(place)
    await expect.poll(() => numbersIn(folder).length, patience).toBe(1)
  })

  test('is rejected if its interval or the number of backups to keep is invalid', () => {
    const at = (environment: Record<string, string>) => () => readConfig({ BACKUP_DIR: '/var/backups', ...environment })
    for (const BACKUP_EVERY of ['often', '0h', '6', '25d', '1.5h']) {
      expect(at({ BACKUP_EVERY })).toThrow('BACKUP_EVERY must be a whole number with s, m, h or d')
    }
    expect(at({ BACKUP_KEEP: '0' })).toThrow('BACKUP_KEEP must be a whole number from 1')
    expect(at({ BACKUP_EVERY: '6h' })()).toMatchObject({ backupEveryMs: 6 * 3_600_000, backupKeep: 7 })
  })
})

describe('a backup is due', () => {
  test.each([
    ['immediately if none exists', undefined, 0],
    ['when the latest is as old as the interval', startedAt - everyMs / 4, (everyMs * 3) / 4],
    ['immediately if the latest is older than the interval', startedAt - 100 * everyMs, 0],
    ['after the whole interval if the latest is new', startedAt, everyMs],
    // Otherwise a service that restarts each day would never make one.
    ['immediately if the latest is from the future, left by a clock that was ahead', startedAt + 1, 0],
  ])('%s', (_, createdAt, due) => {
    const latest = createdAt === undefined ? undefined : { path: '', number: 1, createdAt }
    expect(nextBackupDelayMs(latest, { now: wallTime(startedAt), everyMs })).toBe(due)
  })
})

test('scheduled backups are ordered by the number in their file names, not by time', async () => {
  const { folder } = await createEmptyInstallation()
  const path = '/somewhere/payouts.sqlite'
  const first = nextBackupPath(folder, path, startedAt)
  expect(first).toBe(join(folder, 'payouts-000001-20261123T184500Z.sqlite'))
  writeFileSync(first, '')
  // The clock was set back by ten years.
  const second = nextBackupPath(folder, path, startedAt - 3_650 * everyMs)
  writeFileSync(second, '')
  writeFileSync(join(folder, 'payouts-000007-20261399T184500Z.sqlite'), '')
  writeFileSync(`${second}.123.partial`, '')
  writeFileSync(join(folder, 'mine.123.partial'), '')

  expect(listBackups(folder, path).map((each) => each.path)).toEqual([second, first])
  expect(listBackups(folder, '/somewhere/pay.sqlite')).toEqual([])
  expect(listUnfinishedBackups(folder, path)).toEqual([`${second}.123.partial`])
})

test('`doctor` reports a backup folder that is missing, empty, or without a recent backup', async () => {
  const { place, folder } = await scheduledPlace({ BACKUP_EVERY: '6h' })
  const look = async () => {
    const diagnoses = (await cli(place, 'doctor', '--json')).json() as Diagnosis[]
    return diagnoses.find(({ check }) => check === 'backups')
  }
  expect(await look()).toMatchObject({ state: 'fault', message: expect.stringContaining('ENOENT') })
  mkdirSync(folder)
  expect(await look()).toMatchObject({ state: 'warning', advice: expect.stringContaining('BACKUP_DIR') })
  writeFileSync(nextBackupPath(folder, place.file, Date.now() - 13 * 3_600_000), '')
  expect(await look()).toMatchObject({ state: 'fault', message: expect.stringContaining('older than two intervals') })
  writeFileSync(nextBackupPath(folder, place.file, Date.now() - 11 * 3_600_000), '')
  expect(await look()).toMatchObject({ state: 'ok' })
})
