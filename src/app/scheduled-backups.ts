import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename, extname, join, resolve } from 'node:path'
import type { WallTime } from '../core/ids-and-clock.ts'
import { backupSourceName } from '../database/engines.ts'
import type { Service } from '../operations/context.ts'
import type { Config } from './config.ts'
import { openDatabase } from './open-database.ts'
import type { ProcessResources } from './start.ts'

export type BackupSchedule = { readonly stop: () => Promise<void> }

/** A failed backup is retried after `retryDelayMs`, or after the backup interval if the interval is shorter. */
const retryDelayMs = 5 * 60_000

/**
 * The timeout of a backup is the backup interval, but at least six hours. Without a timeout, a hanging network disk
 * would silently stop all backups.
 */
const minBackupTimeoutMs = 6 * 3_600_000

const mainPath = resolve(import.meta.dirname, 'main.ts')

/**
 * Each backup runs in its own process, because copying would block this process. Intervals between backups are measured
 * with a monotonic clock. When the service starts, the wall clock determines the age of the latest backup.
 */
export function startBackupSchedule(
  config: Config,
  { wallClock }: Pick<Service, 'wallClock'>,
  logger: ProcessResources['logger'],
  timeoutMs = Math.max(config.backupEveryMs, minBackupTimeoutMs),
): BackupSchedule {
  const { backupFolder: folder, backupEveryMs: everyMs, databaseUrl } = config
  if (folder === null) return { stop: async () => {} }
  const path = backupSourceName(databaseUrl)
  let child: ChildProcess | null = null
  let running: Promise<void> = Promise.resolve()
  let isStopped = false
  let timer = setTimeout(
    startBackup,
    resultOr(() => nextBackupDelayMs(listBackups(folder, path)[0], { now: wallClock(), everyMs }), 0),
  )

  function startBackup(): void {
    running = backUpAndReschedule(folder as string, path)
  }

  async function backUpAndReschedule(folder: string, path: string): Promise<void> {
    const failure = await attemptBackup(folder, path)
    if (isStopped) return
    if (failure !== null) logger.error({ failure, advice: backupAdvice }, 'backup failed, will retry')
    timer = setTimeout(startBackup, failure === null ? everyMs : Math.min(everyMs, retryDelayMs))
  }

  async function attemptBackup(folder: string, path: string): Promise<string | null> {
    try {
      const file = nextBackupPath(folder, path, wallClock())
      child = spawn(process.execPath, [mainPath, 'backup', JSON.stringify({ file })], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      const failure = await waitForBackup(child, timeoutMs)
      if (failure !== null) return failure
      const removed = listBackups(folder, path).slice(config.backupKeep)
      for (const old of removed) rmSync(old.path)
      logger.info({ file, removed: removed.length }, 'backup created')
      return null
    } catch (error) {
      return (error as Error).message
    } finally {
      child = null
      resultOr(() => removeUnfinishedBackups(folder, path), undefined)
    }
  }

  return {
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      child?.kill('SIGKILL')
      await running
    },
  }
}

const backupAdvice =
  'BACKUP_DIR must be an existing folder that this user can write to, on a disk with room for one more copy of the database. `audit` finds damage in a database.'

/** Returns 0 if there is no backup, or if the latest backup has a date in the future because the clock was set back. */
export function nextBackupDelayMs(
  latest: BackupFile | undefined,
  { now, everyMs }: { now: WallTime; everyMs: number },
): number {
  const age = now - (latest?.createdAt ?? Number.NEGATIVE_INFINITY)
  return age < 0 ? 0 : Math.max(0, everyMs - age)
}

function removeUnfinishedBackups(folder: string, path: string): void {
  for (const unfinished of listUnfinishedBackups(folder, path)) rmSync(unfinished, { force: true })
}

function resultOr<Result>(read: () => Result, fallback: Result): Result {
  try {
    return read()
  } catch {
    return fallback
  }
}

/** Returns the last error output of the process if the process fails or takes too long. */
function waitForBackup(child: ChildProcess, timeoutMs: number): Promise<string | null> {
  let output = ''
  child.stderr?.on('data', (chunk) => {
    output = `${output}${chunk}`.slice(-1_000)
  })
  // Requests have priority over backups.
  if (child.pid !== undefined) resultOr(() => setPriority(child.pid as number, 10), undefined)
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      // A process that waits for a hanging disk cannot be killed, so the promise must not wait for the process to exit.
      resolve(`the backup process was killed because it took longer than ${Math.ceil(timeoutMs / 60_000)} minutes`)
    }, timeoutMs)
    child.once('error', ({ message }) => resolve(message))
    child.once('close', () => clearTimeout(timer))
    child.once('close', (code, signal) =>
      resolve(code === 0 ? null : output.trim() || `the backup process ended with ${signal ?? `code ${code}`}`),
    )
  })
}

/** @throws the errors of `Database.backup` */
export async function makeBackup({ databaseUrl }: Config, { file }: { readonly file: string }): Promise<void> {
  const fail = (error: Error) => {
    throw error
  }
  const db = await openDatabase({ url: databaseUrl, mustExist: true, isReadOnly: true, onFatal: fail })
  try {
    await db.backup(file)
  } finally {
    await db.close()
  }
}

/** Backups are numbered consecutively, so that the order of backups is known even if the clock was changed. */
export type BackupFile = { readonly path: string; readonly number: number; readonly createdAt: number }

/**
 * Returns the backups of the database, latest first.
 *
 * @param path the path of the database, as returned by `backupSourceName`
 * @throws Error if the folder of the backups cannot be read
 */
export function listBackups(folder: string, path: string): BackupFile[] {
  const backups = readdirSync(folder).flatMap((name) => parseBackupFile(folder, name, path) ?? [])
  return backups.toSorted((one, other) => other.number - one.number)
}

export function listUnfinishedBackups(folder: string, path: string): string[] {
  const names = readdirSync(folder).filter((name) => {
    const [, finalName] = /^(.+)\.\d+\.partial$/.exec(name) ?? []
    return finalName !== undefined && parseBackupFile(folder, finalName, path) !== null
  })
  return names.map((name) => join(folder, name))
}

export function nextBackupPath(folder: string, path: string, now: number): string {
  const number = (listBackups(folder, path)[0]?.number ?? 0) + 1
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return join(folder, `${baseNameOf(path)}-${String(number).padStart(6, '0')}-${time}${backupExtension(path)}`)
}

function baseNameOf(path: string): string {
  return basename(path, extname(path))
}

function backupExtension(path: string): string {
  return extname(path) === '.dump' ? '.dump' : '.sqlite'
}

const backupNamePattern = /^-(\d{6,})-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(\.sqlite|\.dump)$/

function parseBackupFile(folder: string, name: string, path: string): BackupFile | null {
  const prefix = baseNameOf(path)
  const parts = name.startsWith(prefix) ? backupNamePattern.exec(name.slice(prefix.length)) : null
  if (parts === null) return null
  const [, number, year, month, day, hours, minutes, seconds, suffix] = parts
  if (suffix !== backupExtension(path)) return null
  const createdAt = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`)
  return Number.isNaN(createdAt) ? null : { path: join(folder, name), number: Number(number), createdAt }
}
