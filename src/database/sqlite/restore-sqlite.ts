import {
  createReadStream,
  createWriteStream,
  existsSync,
  linkSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import Sqlite from 'better-sqlite3'
import { migrations } from '../../../db/migrations/index.ts'
import type { OnProgress, RestoreOptions, RestoreResult } from '../database.ts'
import { findUnknownMigration } from '../migration.ts'
import { fsyncPath, ownerOnlyMode } from '../private-file.ts'
import { identifyContents } from './database-file.ts'
import { findFileUsers } from './file-users.ts'
import { appliedMigrations } from './migrate-sqlite.ts'
import { findIntegrityErrors } from './self-check-sqlite.ts'

/**
 * Puts a backup in the place of the SQLite file at `path`.
 *
 * All is looked at in a copy beside it, on the same disk, which takes the name only when it is whole and on that disk: whoever
 * is killed meanwhile leaves the database as it was, and a copy that the next restore removes.
 *
 * @throws Error as `restoreDatabase` says
 */
export async function restoreSqlite(
  path: string,
  { backup, canReplace: isReplacing, now, inspect, onProgress = () => {} }: Omit<RestoreOptions, 'url'>,
): Promise<RestoreResult> {
  requireRestorable(path, isReplacing)
  await requireCompleteFile(resolve(backup), path)
  removeStaleCopies(path)
  const copy = `${path}.${process.pid}${copySuffix}`
  try {
    await copyFile(backup, copy, onProgress)
    requireOwnDatabase(copy, backup)
    await inspect(`sqlite:${copy}`)
    if (hasJournalFile(copy)) throw new Error(`The copy of ${backup} could not be closed, and was removed.`)
    fsyncPath(copy)
    return moveIntoPlace(copy, path, { isReplacing, now })
  } finally {
    for (const suffix of ['', ...journalSuffixes]) rmSync(copy + suffix, { force: true })
  }
}

/** Copies a file to a new one that its owner alone may read, and reports how many KiB are copied. */
async function copyFile(source: string, target: string, onProgress: OnProgress): Promise<void> {
  const kibibytes = Math.ceil(statSync(source).size / 1024)
  const reading = createReadStream(source)
  reading.on('data', () => onProgress('KiB copied', Math.floor(reading.bytesRead / 1024), kibibytes))
  await pipeline(reading, createWriteStream(target, { flags: 'wx', mode: ownerOnlyMode }))
}

const copySuffix = '.restoring'
const journalSuffixes = ['-wal', '-shm', '-journal']

/** Looks again at what may have changed meanwhile, and then does it without a pause in which another process could begin. */
function moveIntoPlace(
  copy: string,
  path: string,
  { isReplacing, now }: { isReplacing: boolean; now: number },
): RestoreResult {
  requireRestorable(path, isReplacing)
  let kept: string | null = null
  if (existsSync(path)) {
    kept = `${path}.${new Date(now).toISOString().replaceAll(/[-:]/g, '')}`
    // A second name and then one rename: at no moment is there no database, in whose place a start would make a new one.
    linkSync(path, kept)
    renameSync(copy, path)
  } else {
    // A link, because unlike a rename it never replaces what somebody has put there meanwhile.
    linkSync(copy, path)
  }
  fsyncPath(dirname(path))
  return { file: path, kept: kept }
}

/** Holds that nobody works on the database, nor would miss it. */
function requireRestorable(path: string, isReplacing: boolean): void {
  const folder = dirname(path)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`The folder ${folder} does not exist: DATABASE_URL must name a file in one that does.`)
  }
  if (hasJournalFile(path)) {
    throw new Error(
      `${path} has its log (-wal, -shm, -journal) beside it, which SQLite would play into the backup: ${openFileAdvice(path)}`,
    )
  }
  if (existsSync(path) && !isReplacing) {
    throw new Error(`${path} is there already: --replace puts the backup in its place and keeps it beside.`)
  }
}

/** Why the log is there, and what to do. */
function openFileAdvice(path: string): string {
  const users = findFileUsers(path)
  if (users.length === 0) {
    return 'a service or a command has it open, or was killed. End the service; where none runs, `npm run -s cli -- audit` takes the log in.'
  }
  const described = users.map(({ pid, command }) => `process ${pid} (${command})`).join(' and ')
  const [verb, object] = users.length === 1 ? ['has', 'it'] : ['have', 'them']
  return `${described} ${verb} it open. End ${object} first.`
}

function hasJournalFile(path: string): boolean {
  return journalSuffixes.some((suffix) => existsSync(path + suffix))
}

/** Holds that `backup` is a SQLite file of the length that it says of itself, which nobody works on. */
async function requireCompleteFile(backup: string, path: string): Promise<void> {
  const file = statSync(backup, { throwIfNoEntry: false })
  if (!file?.isFile()) throw new Error(`There is no file ${backup}.`)
  const place = statSync(path, { throwIfNoEntry: false })
  if (place?.ino === file.ino && place.dev === file.dev) throw new Error(`${backup} is the database itself.`)
  if (hasJournalFile(backup)) {
    throw new Error(`${backup} is a database in use, with its log beside it: \`npm run -s cli -- backup\` copies one.`)
  }
  const head = await readHeader(backup)
  if (!head.subarray(0, 16).equals(sqliteMagic)) throw new Error(`${backup} is no SQLite file.`)
  const length = pageSizeOf(head) * head.readUInt32BE(28)
  if (file.size < length) throw new Error(`${backup} is cut off: it has ${file.size} of ${length} bytes.`)
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

/** 65,536 does not fit in its two bytes, and is written as 1. */
function pageSizeOf(head: Buffer): number {
  const written = head.readUInt16BE(16)
  return written === 1 ? 65_536 : written
}

/** Holds that the copy is undamaged, of this service, and of no later version. @param backup of which is spoken */
function requireOwnDatabase(copy: string, backup: string): void {
  const database = new Sqlite(copy, { readonly: true, fileMustExist: true })
  try {
    const faults = findIntegrityErrors(database)
    if (faults.length > 0) throw new Error(`${backup} is damaged: ${faults.slice(0, 3).join('; ')}.`)
    if (identifyContents(copy) !== 'ours')
      throw new Error(`${backup} is not of this service, but a database of something else.`)
    const unknown = findUnknownMigration(migrations, appliedMigrations(database))
    if (unknown === undefined) return
    throw new Error(`${backup} is of a later version: it has migration ${unknown}, which this version does not know.`)
  } finally {
    database.close()
  }
}

/** What those left who were killed, but for what a process that lives may be at work on. */
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
