import {
  createReadStream,
  createWriteStream,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import Sqlite from 'better-sqlite3'
import { cliCommand } from '../../core/package.ts'
import type { OnProgress, RestoreOptions, RestoreResult } from '../database.ts'
import type { Migration } from '../migration.ts'
import { findUnknownMigration } from '../migration.ts'
import { fsyncPath, ownerOnlyMode } from '../private-file.ts'
import { identifyContents } from './database-file.ts'
import { appliedMigrations } from './migrate-sqlite.ts'
import { findIntegrityErrors } from './sqlite-checks.ts'

/**
 * If the process is killed during the restore, the database stays unchanged, and the next restore removes the
 * incomplete copy.
 *
 * @throws Error in the same cases as `restoreDatabase`
 */
export async function restoreSqlite(
  path: string,
  migrations: readonly Migration[],
  { backup, canReplace, now, inspect, onProgress = () => {} }: RestoreOptions,
): Promise<RestoreResult> {
  requireRestorable(path, canReplace)
  await requireCompleteFile(resolve(backup), path)
  removeStaleCopies(path)
  const copy = `${path}.${process.pid}${copySuffix}`
  try {
    await copyFile(backup, copy, onProgress)
    requireValidBackup(copy, migrations, backup)
    await inspect(`sqlite:${copy}`)
    if (hasJournalFile(copy)) throw new Error(`The copy of ${backup} could not be closed, and was removed.`)
    fsyncPath(copy)
    return moveIntoPlace(copy, path, { canReplace, now })
  } finally {
    for (const suffix of ['', ...journalSuffixes]) rmSync(copy + suffix, { force: true })
  }
}

async function copyFile(source: string, target: string, onProgress: OnProgress): Promise<void> {
  const kibibytes = Math.ceil(statSync(source).size / 1024)
  const reading = createReadStream(source)
  reading.on('data', () => onProgress('KiB copied', Math.floor(reading.bytesRead / 1024), kibibytes))
  await pipeline(reading, createWriteStream(target, { flags: 'wx', mode: ownerOnlyMode }))
}

const copySuffix = '.restoring'
const journalSuffixes = ['-wal', '-shm', '-journal']

/**
 * The move is synchronous, so that a service has almost no time to start between the check for running services and the
 * move.
 */
function moveIntoPlace(
  copy: string,
  path: string,
  { canReplace, now }: { canReplace: boolean; now: number },
): RestoreResult {
  requireRestorable(path, canReplace)
  let previousLocation: string | null = null
  if (existsSync(path)) {
    previousLocation = `${path}.${new Date(now).toISOString().replaceAll(/[-:]/g, '')}`
    // The link and the rename keep a file at `path` at every moment, so that a service that starts does not create a
    // new database.
    linkSync(path, previousLocation)
    renameSync(copy, path)
  } else {
    linkSync(copy, path)
  }
  fsyncPath(dirname(path))
  return { file: path, kept: previousLocation }
}

function requireRestorable(path: string, canReplace: boolean): void {
  const folder = dirname(path)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`The folder ${folder} does not exist: DATABASE_URL must name a file in an existing folder.`)
  }
  if (hasJournalFile(path)) {
    throw new Error(
      `${path} has a journal (-wal, -shm, -journal), which SQLite would apply to the backup: ${openFileAdvice(path)}`,
    )
  }
  if (existsSync(path) && !canReplace) {
    throw new Error(`${path} exists already: --replace restores the backup and keeps the existing file.`)
  }
}

function openFileAdvice(path: string): string {
  const users = findFileUsers(path)
  if (users.length === 0) {
    return `a service or a command has it open, or was killed. Stop the service; if none is running, \`${cliCommand} audit\` applies the journal.`
  }
  const processes = users.map(({ pid, command }) => `process ${pid} (${command})`).join(' and ')
  const [verb, object] = users.length === 1 ? ['has', 'it'] : ['have', 'them']
  return `${processes} ${verb} it open. End ${object} first.`
}

function hasJournalFile(path: string): boolean {
  return journalSuffixes.some((suffix) => existsSync(path + suffix))
}

async function requireCompleteFile(backup: string, path: string): Promise<void> {
  const file = statSync(backup, { throwIfNoEntry: false })
  if (!file?.isFile()) throw new Error(`The file ${backup} does not exist.`)
  const current = statSync(path, { throwIfNoEntry: false })
  if (current?.ino === file.ino && current.dev === file.dev) throw new Error(`${backup} is the database itself.`)
  if (hasJournalFile(backup)) {
    throw new Error(`${backup} is a database in use, with a journal: \`${cliCommand} backup\` creates a backup.`)
  }
  const header = await readHeader(backup)
  if (!header.subarray(0, 16).equals(sqliteMagic)) throw new Error(`${backup} is not a SQLite file.`)
  const expectedSize = pageSizeOf(header) * header.readUInt32BE(28)
  if (file.size < expectedSize) {
    throw new Error(`${backup} is truncated: it has ${file.size} of ${expectedSize} bytes.`)
  }
}

const sqliteMagic = Buffer.from('SQLite format 3\0')
const headerBytes = 100

async function readHeader(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(headerBytes), 0, headerBytes, 0)
    return buffer
  } finally {
    await file.close()
  }
}

/** The file header has two bytes for the page size, so SQLite stores a page size of 65,536 as 1. */
function pageSizeOf(header: Buffer): number {
  const field = header.readUInt16BE(16)
  return field === 1 ? 65_536 : field
}

function requireValidBackup(copy: string, migrations: readonly Migration[], backup: string): void {
  const database = new Sqlite(copy, { readonly: true, fileMustExist: true })
  try {
    const errors = findIntegrityErrors(database)
    if (errors.length > 0) throw new Error(`${backup} is damaged: ${errors.slice(0, 3).join('; ')}.`)
    if (identifyContents(copy, migrations) !== 'ours') {
      throw new Error(`${backup} is the database of another program.`)
    }
    const unknown = findUnknownMigration(migrations, appliedMigrations(database))
    if (unknown === undefined) return
    throw new Error(`${backup} is of a later version: it has migration ${unknown}, which this version does not know.`)
  } finally {
    database.close()
  }
}

/** Does not remove the copy of a restore that is still running. */
function removeStaleCopies(path: string): void {
  const prefix = `${basename(path)}.`
  for (const name of readdirSync(dirname(path))) {
    const [, pid] =
      (name.startsWith(prefix) && /^(\d+)\.restoring(-wal|-shm|-journal)?$/.exec(name.slice(prefix.length))) || []
    if (pid !== undefined && (Number(pid) === process.pid || !isAlive(Number(pid)))) rmSync(join(dirname(path), name))
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

type FileUser = { readonly pid: number; readonly command: string }

/** Finds the processes that use the file, on Linux only. */
function findFileUsers(path: string): FileUser[] {
  const files = new Set(
    ['', ...journalSuffixes].map((suffix) => (readOrEmpty(() => realpathSync(path)) || path) + suffix),
  )
  return readFolder('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === process.pid || !hasFileOpen(pid, files)) return []
    return [{ pid, command: commandOf(pid) }]
  })
}

function hasFileOpen(pid: number, files: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`
  return readFolder(folder).some((descriptor) => files.has(readOrEmpty(() => readlinkSync(`${folder}/${descriptor}`))))
}

function commandOf(pid: number): string {
  return readOrEmpty(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    .split('\0')
    .join(' ')
    .trim()
}

function readOrEmpty(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

function readFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
