import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { migrations } from '../../../db/migrations/index.ts'
import { unavailable } from '../../errors.ts'
import type { Database } from '../database.ts'
import { NotNow } from '../database.ts'
import type { SqliteConnection } from './connection.ts'
import { openConnection } from './connection.ts'
import { epochOf } from './epoch.ts'
import { migrateSqlite } from './migrate.ts'
import type { SqliteReader } from './reader.ts'
import { sqliteReader } from './reader.ts'
import { sqliteWriter } from './writer.ts'

/**
 * Opens the SQLite file at `path`, migrated to the latest form.
 *
 * @throws Error that names the file when it can't be opened, or is missing where `mustExist`
 */
export function openSqlite({
  path,
  mustExist,
  onFatal,
}: {
  path: string
  mustExist: boolean
  onFatal: (error: Error) => void
}): Database {
  if (mustExist && !existsSync(path)) throw new Error(`${path} does not exist: DATABASE_URL must name a database`)
  const { writing, reading } = openConnections(path)
  const requireFile = fileWatch(path)
  const reader = sqliteReader(reading, writing)
  const epoch = epochOf(writing.raw)
  const writer = sqliteWriter(writing, {
    requireFile,
    requireEpoch: epoch.require,
    onCommit: reader.noteCommit,
    onFatal,
  })
  const readSideOfWriter = readSide(reading, { reader, requireFile })

  return {
    ...readSideOfWriter,
    ping: async () => {
      await readSideOfWriter.ping()
      epoch.require()
    },
    takeOver: (onTakenOver) => naming(path, () => epoch.take(onTakenOver)),
    write: writer.write,
    requireRoom: writer.requireRoom,
    statistics: writer.statistics,
    close: async () => {
      await writer.drain()
      reader.refresh()
      reading.raw.close()
      writing.raw.close()
    },
  }
}

/**
 * Opens the SQLite file at `path` in a process that leaves the writing to another, which has opened it before.
 *
 * @throws Error that names the file when it can't be opened
 */
export function openSqliteReader(path: string): Database {
  const reading = naming(path, () => openConnection(path, { isReadOnly: true }))
  const reader = sqliteReader(reading, null)
  return {
    ...readSide(reading, { reader, requireFile: fileWatch(path) }),
    write: async () => {
      throw new Error('this process only reads: an operation that writes must be declared as such')
    },
    requireRoom: () => {},
    takeOver: () => {},
    statistics: () => ({ writes: 0, commits: 0 }),
    close: async () => {
      reader.refresh()
      reading.raw.close()
    },
  }
}

function readSide(
  reading: SqliteConnection,
  { reader, requireFile }: { reader: SqliteReader; requireFile: () => void },
): Omit<Database, 'write' | 'requireRoom' | 'takeOver' | 'statistics' | 'close'> {
  return {
    execute: reader.execute,
    snapshot: reader.snapshot,
    refresh: reader.refresh,
    version: reader.version,
    ping: async () => {
      requireFile()
      reading.raw.prepare('select name from migrations limit 1').get()
    },
    backup: async (target) => {
      // A copy can't be made inside the read transaction of a turn that has read.
      reader.refresh()
      backUp(reading, target)
    },
  }
}

function openConnections(path: string) {
  return naming(path, () => {
    mkdirSync(dirname(path), { recursive: true })
    const writing = openConnection(path, { isReadOnly: false })
    migrateSqlite(writing.raw, migrations)
    // SQLite does so too, but goes on when it fails, and then a power cut would take the files with all that is in them.
    sync(dirname(path))
    return { writing, reading: openConnection(path, { isReadOnly: true }) }
  })
}

/** Opens something at `path`; an error of SQLite does not say where. */
function naming<Opened>(path: string, open: () => Opened): Opened {
  try {
    return open()
  } catch (error) {
    const { message, code } = error as Error & { code?: unknown }
    // The second is what SQLite calls it where there is no room for the index of its log.
    const isDiskFull = code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE'
    if (isDiskFull) throw new NotNow(`${path} can't be opened: the disk is full`, { cause: error })
    throw new Error(`${path} can't be opened: ${message}`, { cause: error })
  }
}

/**
 * Throws once the file at `path` is no longer the one that was opened: SQLite would go on in a file that has no name, and
 * what it acknowledges would be gone with the process. Looks at most once a second.
 */
function fileWatch(path: string): () => void {
  const { ino } = statSync(path)
  let lookedAt = performance.now()
  return () => {
    if (performance.now() - lookedAt < 1_000) return
    if (statSync(path, { throwIfNoEntry: false })?.ino === ino) lookedAt = performance.now()
    else throw unavailable('The database file was removed or replaced while it was in use.')
  }
}

/**
 * Writes a compact copy of one snapshot, under a name of its own until it is whole and on disk.
 *
 * VACUUM INTO reads a snapshot, where SQLite's page-wise backup starts over whenever another process writes.
 */
function backUp({ raw }: SqliteConnection, target: string): void {
  if (existsSync(target)) throw new Error(`${target} exists already: a backup never replaces a file`)
  const partial = `${target}.${process.pid}.partial`
  try {
    raw.prepare('vacuum into ?').run(partial)
    sync(partial)
    // A link, because unlike a new name it never replaces what another backup has put there meanwhile.
    linkSync(partial, target)
  } finally {
    rmSync(partial, { force: true })
  }
  sync(dirname(resolve(target)))
}

function sync(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
