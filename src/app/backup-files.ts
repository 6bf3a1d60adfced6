import { readdirSync } from 'node:fs'
import { basename, extname, join } from 'node:path'

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
