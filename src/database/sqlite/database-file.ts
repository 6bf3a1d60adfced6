import type { Stats } from 'node:fs'
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { unavailable } from '../../core/errors.ts'
import { missingDatabaseAdvice } from '../database.ts'
import type { Migration } from '../migration.ts'
import { createPrivateFile, fsyncPath } from '../private-file.ts'
import { lockTimeoutMs } from './sqlite-connection.ts'

/**
 * Checks that the file at `path` is a database of this service, or creates an empty file that only its owner can read.
 * SQLite gives the WAL the same file mode as the database.
 *
 * @throws Error when the folder is missing, the file is another program's database, or the file is missing and
 *   `mustExist` is true
 */
export function prepareDatabaseFile(
  path: string,
  migrations: readonly Migration[],
  {
    mustExist,
    canCreateFolder = false,
    onWarning,
  }: { mustExist: boolean; canCreateFolder?: boolean; onWarning: (message: string) => void },
): void {
  const folder = dirname(path)
  if (canCreateFolder && !mustExist && mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) {
    fsyncPath(dirname(folder))
  }
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`the folder ${folder} does not exist; DATABASE_URL must name a file in an existing folder`)
  }
  const file = statSync(path, { throwIfNoEntry: false })
  const contents = file === undefined || file.size === 0 ? 'nothing' : identifyContents(path, migrations)
  if (contents === 'foreign') throw new Error('it is the database of another program, and was not changed')
  if (contents === 'nothing' && mustExist) throw new Error(`it does not exist; ${missingDatabaseAdvice}`)
  if (file === undefined) createPrivateFile(path)
  else if ((file.mode & 0o077) !== 0 && process.platform !== 'win32') {
    onWarning(`${path} is open to other users of this machine: chmod 600 it, its -wal, its -shm and its backups.`)
  }
}

type FileContents = 'nothing' | 'ours' | 'foreign'

/** Opens the file for writing only if a crash left a transaction that must be rolled back. */
export function identifyContents(path: string, migrations: readonly Migration[]): FileContents {
  try {
    return readContents(path, migrations, { readonly: true })
  } catch (error) {
    if (!/^SQLITE_READONLY/.test(String((error as { code?: unknown }).code))) throw error
    return readContents(path, migrations, {})
  }
}

function readContents(path: string, [first]: readonly Migration[], options: Sqlite.Options): FileContents {
  const database = new Sqlite(path, { ...options, fileMustExist: true, timeout: lockTimeoutMs })
  const exists = (sql: string, ...values: string[]) =>
    database
      .prepare(sql)
      .pluck()
      .get(...values) !== undefined
  try {
    if (!exists(`select 1 from sqlite_schema where name not like 'sqlite\\_%' escape '\\'`)) return 'nothing'
    const hasMigrations = exists(`select 1 from pragma_table_info('migrations') where name = 'applied_at'`)
    const isOurs = hasMigrations && exists('select 1 from migrations where name = ?', first?.name ?? '')
    return isOurs ? 'ours' : 'foreign'
  } finally {
    database.close()
  }
}

const fileDescriptions = {
  '': 'The database file',
  '-wal': 'The write-ahead log of the database (-wal)',
  '-shm': 'The index of the write-ahead log (-shm)',
} as const
type FileSuffix = keyof typeof fileDescriptions

type FileStatus = 'same' | 'removed' | 'replaced'

/** If `isWalEmpty` is true, an empty file has replaced the WAL. */
type FileStatuses = Readonly<Record<FileSuffix, FileStatus>> & { readonly isWalEmpty: boolean }

export type FileWatch = {
  readonly requireUnchanged: () => void
  /**
   * `requireRecentlyUnchanged` checks at most every 100 ms, because no other process of this service can start and
   * commit in less time.
   */
  readonly requireRecentlyUnchanged: () => void
  readonly isUnchanged: () => boolean
  readonly close: () => void
}

const checkIntervalMs = 100
const idleCheckIntervalMs = 1_000

/**
 * If the database file, the WAL or the WAL index is removed or replaced, SQLite continues to use the old file, and
 * loses all further commits when the process ends.
 *
 * After a change of the database files, the process permanently rejects every read and write, because another process
 * may have written to the new files.
 *
 * @param onChange called once; returns advice for the error message
 */
export function watchFiles(path: string, onChange: (statuses: FileStatuses) => string): FileWatch {
  const suffixes = Object.keys(fileDescriptions) as FileSuffix[]
  const opened = suffixes.map((suffix) => ({ suffix, path: path + suffix, ...statSync(path + suffix) }))
  let checkedAt = performance.now()
  let stoppedReason: string | null = null

  function requireUnchanged(): void {
    if (stoppedReason !== null) throw unavailable(stoppedReason)
    if (!opened.every((file) => fileStatusOf(file) === 'same')) stop()
    checkedAt = performance.now()
  }

  function stop(): never {
    const statuses = Object.fromEntries(opened.map((file) => [file.suffix, fileStatusOf(file)])) as Record<
      FileSuffix,
      FileStatus
    >
    const changed = suffixes.find((suffix) => statuses[suffix] !== 'same') ?? ''
    stoppedReason = `${fileDescriptions[changed]} was ${statuses[changed]} while the service had it open.`
    stoppedReason = `${stoppedReason} ${onChange({ ...statuses, isWalEmpty: statFile(`${path}-wal`)?.size === 0 })}`
    throw unavailable(stoppedReason)
  }

  function isUnchanged(): boolean {
    try {
      requireUnchanged()
    } catch {
      if (stoppedReason !== null) clearInterval(idleCheck)
    }
    return stoppedReason === null
  }

  const idleCheck = setInterval(isUnchanged, idleCheckIntervalMs)
  idleCheck.unref()

  return {
    requireUnchanged,
    requireRecentlyUnchanged: () => {
      if (stoppedReason !== null || performance.now() - checkedAt >= checkIntervalMs) requireUnchanged()
    },
    isUnchanged,
    close: () => clearInterval(idleCheck),
  }
}

type FileIdentity = { readonly path: string; readonly dev: number; readonly ino: number }

function fileStatusOf({ path, dev, ino }: FileIdentity): FileStatus {
  const stats = statFile(path)
  if (stats === undefined) return 'removed'
  return stats.ino === ino && stats.dev === dev ? 'same' : 'replaced'
}

function statFile(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw Object.assign(unavailable('The database files cannot be checked.'), { cause: error })
  }
}

/** The wait for a checkpoint blocks the event loop, but the service has already stopped using the database. */
const checkpointTimeoutMs = 1_000

/**
 * Checkpoints a WAL that was unlinked while open, because otherwise the acknowledged writes in the WAL would be lost
 * when the process ends. Does nothing if other processes may have written to a new WAL.
 *
 * @returns whether the whole WAL is in the database file and on disk
 */
export function checkpointUnlinkedWal(raw: Sqlite.Database, statuses: FileStatuses): boolean {
  const isUnlinked = statuses['-wal'] === 'removed' || (statuses['-wal'] === 'replaced' && statuses.isWalEmpty)
  if (statuses[''] !== 'same' || statuses['-shm'] !== 'same' || !isUnlinked) return false
  try {
    raw.pragma(`busy_timeout = ${checkpointTimeoutMs}`)
    const { busy, log, checkpointed } = checkpoint(raw, 'FULL')
    return busy === 0 && log === checkpointed
  } catch {
    return false
  }
}

/**
 * Checks that the WAL file contains every page that the WAL index refers to.
 *
 * @throws Error when the WAL was removed while another process had it open: the current WAL lacks commits of the other
 *   process
 */
export function requireCompleteWal(raw: Sqlite.Database, path: string): void {
  const pageSize = raw.pragma('page_size', { simple: true }) as number
  for (;;) {
    const { log } = checkpoint(raw, 'NOOP')
    if (log <= 0 || statSync(`${path}-wal`).size >= walHeaderBytes + log * (frameHeaderBytes + pageSize)) return
    if (checkpoint(raw, 'NOOP').log === log) break
  }
  throw new Error('its write-ahead log (-wal) was removed while another process had it open: end that process first')
}

const walHeaderBytes = 32
const frameHeaderBytes = 24

function checkpoint(raw: Sqlite.Database, mode: 'FULL' | 'NOOP') {
  const [result] = raw.pragma(`wal_checkpoint(${mode})`) as { busy: number; log: number; checkpointed: number }[]
  return result as NonNullable<typeof result>
}
