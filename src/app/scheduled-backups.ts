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

/** What ends the schedule, and a backup that is being made: nothing is left of it. */
export type BackupSchedule = { readonly stop: () => Promise<void> }

/** How soon one that failed is tried again, unless that is due sooner. */
const retryDelayMs = 5 * 60_000

/** How long one may take, unless the next is due later: a network's disk that answers no more would end all backups in silence. */
const minBackupTimeoutMs = 6 * 3_600_000

const mainPath = resolve(import.meta.dirname, 'main.ts')

/**
 * Has backups made in BACKUP_DIR, each in a process of its own, because to copy takes the whole of one; none where that is not
 * set. Nothing that fails there ends the service.
 *
 * The time between two is measured by a clock that nobody sets. That of day only says how old the latest is at the start.
 */
export function startBackupSchedule(
  config: Config,
  { wallClock }: Pick<Service, 'wallClock'>,
  logger: ProcessResources['logger'],
  mostMs = Math.max(config.backupEveryMs, minBackupTimeoutMs),
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

  /** Why it could not be made; `null` where it was. */
  async function attemptBackup(folder: string, path: string): Promise<string | null> {
    try {
      const file = nextBackupPath(folder, path, wallClock())
      child = spawn(process.execPath, [mainPath, 'backup', JSON.stringify({ file })], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      const failure = await waitForBackup(child, mostMs)
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
  'BACKUP_DIR must be a folder that is there, in which this user may write, on a disk with room for one more copy of the database; `audit` finds a damaged one.'

/**
 * When the next is due: at once where there is none, or the latest is of a time that has not come yet, because a clock was put
 * back and how old it is can't be known. Never later than one interval.
 */
export function nextBackupDelayMs(
  latest: BackupFile | undefined,
  { now, everyMs }: { now: WallTime; everyMs: number },
): number {
  const age = now - (latest?.createdAt ?? Number.NEGATIVE_INFINITY)
  return age < 0 ? 0 : Math.max(0, everyMs - age)
}

function removeUnfinishedBackups(folder: string, path: string): void {
  for (const left of listUnfinishedBackups(folder, path)) rmSync(left, { force: true })
}

/** What `read` answers; `otherwise` where it can't, of which the next backup will say why. */
function resultOr<Result>(read: () => Result, otherwise: Result): Result {
  try {
    return read()
  } catch {
    return otherwise
  }
}

/** Waits for a process, and ends one that takes too long; what it said last where it failed. */
function waitForBackup(child: ChildProcess, mostMs: number): Promise<string | null> {
  let said = ''
  child.stderr?.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-1_000)
  })
  // Whoever waits for an answer comes first.
  if (child.pid !== undefined) resultOr(() => setPriority(child.pid as number, 10), undefined)
  return new Promise((resolve) => {
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      // Not when it is gone: one that waits for such a disk can't even be killed.
      resolve(`it was ended because it took longer than ${Math.ceil(mostMs / 60_000)} minutes`)
    }, mostMs)
    child.once('error', ({ message }) => resolve(message))
    child.once('close', () => clearTimeout(late))
    child.once('close', (code, signal) => resolve(code === 0 ? null : said.trim() || `it ended by ${signal ?? code}`))
  })
}

/** Makes one backup, in the process that was started for it. @throws what `Database.backup` does */
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

/** A backup that the schedule has made: `number` is one more than that of the one before, whatever the clock said. */
export type BackupFile = { readonly path: string; readonly number: number; readonly createdAt: number }

/**
 * The backups in `folder` that the schedule made of the database that `path` stands for (`backedUpFile`), the latest first; nothing else is ever taken for one.
 *
 * @throws where the folder can't be read
 */
export function listBackups(folder: string, path: string): BackupFile[] {
  const found = readdirSync(folder).flatMap((name) => parseBackupFile(folder, name, path) ?? [])
  return found.toSorted((one, other) => other.number - one.number)
}

/** What schedules that were killed left of the same database. @throws where the folder can't be read */
export function listUnfinishedBackups(folder: string, path: string): string[] {
  const names = readdirSync(folder).filter((name) => {
    const [, whole] = /^(.+)\.\d+\.partial$/.exec(name) ?? []
    return whole !== undefined && parseBackupFile(folder, whole, path) !== null
  })
  return names.map((name) => join(folder, name))
}

/** Where the next is made: numbers order them, and their times are for people and for what is due after a start. */
export function nextBackupPath(folder: string, path: string, now: number): string {
  const number = (listBackups(folder, path)[0]?.number ?? 0) + 1
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return join(folder, `${baseNameOf(path)}-${String(number).padStart(6, '0')}-${time}${backupExtension(path)}`)
}

function baseNameOf(path: string): string {
  return basename(path, extname(path))
}

/** A copy of a SQLite file is one, and of a PostgreSQL database a dump. */
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
  const madeAt = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`)
  return Number.isNaN(madeAt) ? null : { path: join(folder, name), number: Number(number), createdAt: madeAt }
}
