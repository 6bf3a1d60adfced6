import { readdirSync } from 'node:fs'
import { basename, extname, join } from 'node:path'

/** A backup that the schedule has made: `number` is one more than that of the one before, whatever the clock said. */
export type BackupFile = { readonly path: string; readonly number: number; readonly madeAt: number }

/**
 * The backups in `folder` that the schedule made of the database that `path` stands for (`backedUpFile`), the latest first; nothing else is ever taken for one.
 *
 * @throws where the folder can't be read
 */
export function backupsIn(folder: string, path: string): BackupFile[] {
  const found = readdirSync(folder).flatMap((name) => fileIn(folder, name, path) ?? [])
  return found.toSorted((one, other) => other.number - one.number)
}

/** What schedules that were killed left of the same database. @throws where the folder can't be read */
export function unfinishedIn(folder: string, path: string): string[] {
  const names = readdirSync(folder).filter((name) => {
    const [, whole] = /^(.+)\.\d+\.partial$/.exec(name) ?? []
    return whole !== undefined && fileIn(folder, whole, path) !== null
  })
  return names.map((name) => join(folder, name))
}

/** Where the next is made: numbers order them, and their times are for people and for what is due after a start. */
export function nextBackup(folder: string, path: string, now: number): string {
  const number = (backupsIn(folder, path)[0]?.number ?? 0) + 1
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return join(folder, `${nameOf(path)}-${String(number).padStart(6, '0')}-${time}${suffixOf(path)}`)
}

function nameOf(path: string): string {
  return basename(path, extname(path))
}

/** A copy of a SQLite file is one, and of a PostgreSQL database a dump. */
function suffixOf(path: string): string {
  return extname(path) === '.dump' ? '.dump' : '.sqlite'
}

const form = /^-(\d{6,})-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(\.sqlite|\.dump)$/

function fileIn(folder: string, name: string, path: string): BackupFile | null {
  const prefix = nameOf(path)
  const parts = name.startsWith(prefix) ? form.exec(name.slice(prefix.length)) : null
  if (parts === null) return null
  const [, number, year, month, day, hours, minutes, seconds, suffix] = parts
  if (suffix !== suffixOf(path)) return null
  const madeAt = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`)
  return Number.isNaN(madeAt) ? null : { path: join(folder, name), number: Number(number), madeAt }
}
