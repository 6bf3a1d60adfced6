import { dirname } from 'node:path'
import { migrations } from '../../../db/migrations/index.ts'
import type { Database, DatabaseOptions } from '../database.ts'
import { TemporarilyUnavailableError } from '../database.ts'
import { findPendingMigrations } from '../migration.ts'
import { fsyncPath } from '../private-file.ts'
import { backUp } from './backup-sqlite.ts'
import { checkSchemaSqlite } from './check-schema-sqlite.ts'
import { checkpointUnlinkedWal, requireCompleteWal } from './checkpoint-wal.ts'
import type { CommitWatch } from './commit-watch.ts'
import { commitWatch } from './commit-watch.ts'
import { prepareDatabaseFile } from './database-file.ts'
import type { FileWatch } from './file-watch.ts'
import { watchFiles } from './file-watch.ts'
import { appliedMigrations, migrateSqlite } from './migrate-sqlite.ts'
import { findIntegrityErrors } from './self-check-sqlite.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { openConnection } from './sqlite-connection.ts'
import type { SqliteReader } from './sqlite-reader.ts'
import { sqliteReader } from './sqlite-reader.ts'
import { sqliteWriter } from './sqlite-writer.ts'
import { writerEpoch } from './writer-epoch.ts'

/**
 * Opens the SQLite file at `path`, migrated to the latest form; where there is none it is made, unless it `mustExist`.
 *
 * @throws Error that names the file when it can't be opened, as `preparePlace` says
 */
export function openSqlite({
  path,
  mustExist,
  beforeMigrating,
  onMigrating,
  onFatal,
  onStopped = () => {},
  onWarning = () => {},
  onCommitted,
}: { path: string; mustExist: boolean } & Pick<
  DatabaseOptions,
  'beforeMigrating' | 'onMigrating' | 'onFatal' | 'onStopped' | 'onWarning' | 'onCommitted'
>): Database {
  const { writing, reading } = openConnections(path, { mustExist, onWarning }, { beforeMigrating, onMigrating })
  const watch = watchFiles(path, (fates) => {
    reader.refresh()
    const isSaved = checkpointUnlinkedWal(writing.raw, fates)
    // Before the reading one: whichever closes last removes the log, and it may hold what others have written.
    writing.raw.close()
    const advice = isSaved ? `${savedAdvice} ${stoppedAdvice}` : stoppedAdvice
    onStopped(new Error(`${path}: ${advice}`))
    return advice
  })
  const reader = sqliteReader(reading, { writing, requireFiles: watch.requireRecentlyUnchanged })
  const commits = commitWatch(reader.version)
  const epoch = writerEpoch(writing.raw)
  const writer = sqliteWriter(writing, {
    requireDatabaseFile: watch.requireUnchanged,
    requireWriterEpoch: epoch.requireForWrite,
    onCommit: (changed) => {
      reader.noteCommit(changed)
      commits.pollSoon()
    },
    onCommitted,
    onFatal,
  })
  const readSideOfWriter = readSide(reading, { reader, watch, commits })

  return {
    ...readSideOfWriter,
    ping: async () => {
      await readSideOfWriter.ping()
      epoch.requireCurrent()
    },
    takeOver: (onTakenOver) => withPathInErrors(path, () => epoch.take(onTakenOver)),
    write: writer.write,
    requireQueueSpace: writer.requireQueueSpace,
    onBeforeBatch: writer.onBeforeBatch,
    statistics: writer.statistics,
    close: async () => {
      await writer.drain()
      commits.close()
      reader.refresh()
      watch.close()
      // Closed as below, the files would lose what others have written to those that took their place.
      if (!watch.isUnchanged()) writing.raw.close()
      reading.raw.close()
      writing.raw.close()
    },
  }
}

const savedAdvice = 'All that was acknowledged is saved in the database file.'
const stoppedAdvice = 'Nothing is read or stored any more until the service is started again.'

/**
 * Opens the SQLite file at `path` in a process that leaves the writing to another, which has opened it before.
 *
 * @throws Error that names the file when it can't be opened
 */
export function openSqliteReader({ path, onStopped }: { path: string; onStopped: (error: Error) => void }): Database {
  const reading = withPathInErrors(path, () => openReadConnection(path))
  const watch = watchFiles(path, () => {
    onStopped(new Error(`${path}: ${stoppedAdvice}`))
    return stoppedAdvice
  })
  const reader = sqliteReader(reading, { writing: null, requireFiles: watch.requireRecentlyUnchanged })
  const commits = commitWatch(reader.version)
  return {
    ...readSide(reading, { reader, watch, commits }),
    write: async () => {
      throw new Error('this process only reads: an operation that writes must be declared as such')
    },
    requireQueueSpace: () => {},
    onBeforeBatch: () => {},
    takeOver: () => {},
    statistics: () => ({ writes: 0, commits: 0, queued: 0 }),
    close: async () => {
      commits.close()
      reader.refresh()
      watch.close()
      reading.raw.close()
    },
  }
}

function readSide(
  reading: SqliteConnection,
  { reader, watch, commits }: { reader: SqliteReader; watch: FileWatch; commits: CommitWatch },
): Omit<Database, 'write' | 'requireQueueSpace' | 'onBeforeBatch' | 'takeOver' | 'statistics' | 'close'> {
  return {
    execute: reader.execute,
    snapshot: reader.snapshot,
    refresh: reader.refresh,
    findPrimary: async () => {},
    tableVersion: reader.version,
    watch: commits.watch,
    ping: async () => {
      watch.requireUnchanged()
      reading.raw.prepare('select name from migrations limit 1').get()
    },
    selfCheck: async () => {
      reader.refresh()
      return { errors: findIntegrityErrors(reading.raw), unchecked: null }
    },
    checkSchema: async () => {
      reader.refresh()
      return checkSchemaSqlite(reading.raw)
    },
    backup: async (target, onProgress) => {
      watch.requireUnchanged()
      // A copy can't be made inside the read transaction of a turn that has read.
      reader.refresh()
      backUp(reading, target, onProgress)
    },
  }
}

function openConnections(
  path: string,
  place: Parameters<typeof prepareDatabaseFile>[1],
  { beforeMigrating = () => {}, onMigrating }: Pick<DatabaseOptions, 'beforeMigrating' | 'onMigrating'>,
) {
  return withPathInErrors(path, () => {
    prepareDatabaseFile(path, place)
    const writing = openConnection(path, { isReadOnly: false })
    try {
      requireCompleteWal(writing.raw, path)
      const coming = findPendingMigrations(migrations, appliedMigrations(writing.raw))
      if (coming) beforeMigrating({ ...coming, backUp: (target) => backUp(writing, target) })
      migrateSqlite(writing.raw, migrations, onMigrating)
      // SQLite does so too, but goes on when it fails, and then a power cut would take the files with all that is in them.
      fsyncPath(dirname(path))
      return { writing, reading: openReadConnection(path) }
    } catch (error) {
      // Else it would hold its lock on them for as long as this process lasts, and who opens them next would be refused.
      writing.raw.close()
      throw error
    }
  })
}

/** A connection opens its files when it first reads, and holds its lock on them from then on. */
function openReadConnection(path: string): SqliteConnection {
  const reading = openConnection(path, { isReadOnly: true })
  reading.raw.prepare('select name from migrations limit 1').get()
  return reading
}

/** Opens something at `path`; an error of SQLite does not say where. */
function withPathInErrors<Opened>(path: string, open: () => Opened): Opened {
  try {
    return open()
  } catch (error) {
    const { message, code } = error as Error & { code?: unknown }
    // The second is what SQLite calls it where there is no room for the index of its log.
    const isDiskFull = code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE' || code === 'ENOSPC'
    if (isDiskFull) throw new TemporarilyUnavailableError(`${path} can't be opened: the disk is full`, { cause: error })
    throw new Error(`${path} can't be opened: ${message}`, { cause: error })
  }
}
