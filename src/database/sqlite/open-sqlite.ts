import { dirname } from 'node:path'
import type Sqlite from 'better-sqlite3'
import type { Database, EngineOptions, EngineState, InspectedDatabase } from '../database.ts'
import { TemporarilyUnavailableError } from '../database.ts'
import type { Migration } from '../migration.ts'
import { findPendingMigrations, findUnknownMigration } from '../migration.ts'
import { fsyncPath } from '../private-file.ts'
import { backUp } from './backup-sqlite.ts'
import type { FileWatch } from './database-file.ts'
import { checkpointUnlinkedWal, prepareDatabaseFile, requireCompleteWal, watchFiles } from './database-file.ts'
import { appliedMigrations, migrateSqlite } from './migrate-sqlite.ts'
import { checkSchemaSqlite, findIntegrityErrors } from './sqlite-checks.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { openConnection } from './sqlite-connection.ts'
import type { CommitWatch, SqliteReader } from './sqlite-reader.ts'
import { commitWatch, sqliteReader } from './sqlite-reader.ts'
import { sqliteWriter } from './sqlite-writer.ts'
import { writerEpoch } from './writer-epoch.ts'

/** @throws Error with the path when the file cannot be opened */
export function openSqlite(path: string, migrations: readonly Migration[], options: EngineOptions): Database {
  const { onFatal, onStopped = () => {}, onCommitted } = options
  const { writing, reading } = openConnections(path, migrations, options)
  const files = watchFiles(path, (statuses) => {
    reader.refresh()
    const isSaved = checkpointUnlinkedWal(writing.raw, statuses)
    // If a writing connection closes last, SQLite removes the WAL, which may contain commits of other processes.
    writing.raw.close()
    const advice = isSaved ? `${savedAdvice} ${stoppedAdvice}` : stoppedAdvice
    onStopped(new Error(`${path}: ${advice}`))
    return advice
  })
  const reader = sqliteReader(reading, { writing, requireFiles: files.requireRecentlyUnchanged })
  const commits = commitWatch(reader.version)
  const epoch = writerEpoch(writing.raw)
  const writer = sqliteWriter(writing, {
    requireDatabaseFile: files.requireUnchanged,
    requireWriterEpoch: epoch.requireForWrite,
    onCommit: (changed) => {
      reader.noteCommit(changed)
      commits.pollSoon()
    },
    onCommitted,
    onFatal,
  })
  const reads = readSide(reading, { migrations, reader, files, commits })

  return {
    ...reads,
    ping: async () => {
      await reads.ping()
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
      files.close()
      // If a writing connection closes last, SQLite removes the WAL. If the database files were replaced, the WAL
      // belongs to another process.
      if (!files.isUnchanged()) writing.raw.close()
      reading.raw.close()
      writing.raw.close()
    },
  }
}

const savedAdvice = 'All acknowledged writes are saved in the database file.'
const stoppedAdvice = 'Nothing is read or stored until the service is restarted.'

/**
 * Call only after the writer process has opened the database.
 *
 * @throws Error with the path when the file cannot be opened
 */
export function openSqliteReader(
  path: string,
  migrations: readonly Migration[],
  { onStopped = () => {} }: Pick<EngineOptions, 'onStopped'>,
): Database {
  const reading = withPathInErrors(path, () => openReadConnection(path))
  const files = watchFiles(path, () => {
    onStopped(new Error(`${path}: ${stoppedAdvice}`))
    return stoppedAdvice
  })
  const reader = sqliteReader(reading, { writing: null, requireFiles: files.requireRecentlyUnchanged })
  const commits = commitWatch(reader.version)
  return {
    ...readSide(reading, { migrations, reader, files, commits }),
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
      files.close()
      reading.raw.close()
    },
  }
}

/** @throws Error when the file cannot be opened, or is not a database of this service */
export function inspectSqlite(path: string, migrations: readonly Migration[]): InspectedDatabase {
  prepareDatabaseFile(path, migrations, { mustExist: true, onWarning: () => {} })
  const reading = openConnection(path, { isReadOnly: false, isInspection: true })
  const reader = sqliteReader(reading, { writing: null, requireFiles: () => {} })
  return {
    db: { execute: reader.execute },
    state: readEngineState(reading.raw, migrations),
    checkSchema: async () => checkSchemaSqlite(reading.raw, migrations),
    close: async () => {
      reader.refresh()
      reading.raw.close()
    },
  }
}

function readEngineState(raw: Sqlite.Database, migrations: readonly Migration[]): EngineState {
  const journalMode = String(raw.pragma('journal_mode', { simple: true }))
  const isFull = raw.pragma('synchronous', { simple: true }) === 2
  const applied = appliedMigrations(raw)
  return {
    version: `SQLite ${raw.prepare('select sqlite_version()').pluck().get()}`,
    settings: [
      {
        name: 'journal_mode',
        value: journalMode,
        advice: journalMode === 'wal' ? null : 'Another program has changed the file: the next start corrects it.',
      },
      {
        name: 'synchronous',
        value: isFull ? 'FULL' : 'not FULL',
        advice: isFull ? null : 'This build of SQLite does not accept FULL, so no service starts: run `npm ci` again.',
      },
    ],
    pendingMigrations: findPendingMigrations(migrations, applied)?.names ?? [],
    unknownMigration: findUnknownMigration(migrations, applied),
    clockSkewMs: null,
  }
}

function readSide(
  reading: SqliteConnection,
  {
    migrations,
    reader,
    files,
    commits,
  }: { migrations: readonly Migration[]; reader: SqliteReader; files: FileWatch; commits: CommitWatch },
): Omit<Database, 'write' | 'requireQueueSpace' | 'onBeforeBatch' | 'takeOver' | 'statistics' | 'close'> {
  return {
    execute: reader.execute,
    snapshot: reader.snapshot,
    refresh: reader.refresh,
    findPrimary: async () => {},
    tableVersion: reader.version,
    watch: commits.watch,
    ping: async () => {
      files.requireUnchanged()
      selectAnyMigration(reading)
    },
    selfCheck: async () => {
      reader.refresh()
      return { errors: findIntegrityErrors(reading.raw), unchecked: null }
    },
    checkSchema: async () => {
      reader.refresh()
      return checkSchemaSqlite(reading.raw, migrations)
    },
    backup: async (target, onProgress) => {
      files.requireUnchanged()
      // VACUUM cannot run while the read transaction is open.
      reader.refresh()
      backUp(reading, target, onProgress)
    },
  }
}

function openConnections(
  path: string,
  migrations: readonly Migration[],
  {
    mustExist = false,
    canCreateFolder = false,
    onWarning = () => {},
    beforeMigrating = () => {},
    onMigrating,
  }: EngineOptions,
) {
  return withPathInErrors(path, () => {
    prepareDatabaseFile(path, migrations, { mustExist, canCreateFolder, onWarning })
    const writing = openConnection(path, { isReadOnly: false })
    try {
      requireCompleteWal(writing.raw, path)
      const pending = findPendingMigrations(migrations, appliedMigrations(writing.raw))
      if (pending) beforeMigrating({ ...pending, backUp: (target) => backUp(writing, target) })
      migrateSqlite(writing.raw, migrations, onMigrating)
      // SQLite also syncs the database's folder, but ignores errors of this sync. Without a sync of the folder, a power
      // failure can remove new files.
      fsyncPath(dirname(path))
      return { writing, reading: openReadConnection(path) }
    } catch (error) {
      // An open connection would keep its lock on the database file.
      writing.raw.close()
      throw error
    }
  })
}

function openReadConnection(path: string): SqliteConnection {
  const reading = openConnection(path, { isReadOnly: true })
  selectAnyMigration(reading)
  return reading
}

function selectAnyMigration({ raw }: SqliteConnection): void {
  raw.prepare('select name from migrations limit 1').get()
}

function withPathInErrors<Result>(path: string, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    const { message, code } = error as Error & { code?: unknown }
    // The error SQLITE_IOERR_SHMSIZE means that the disk has no space for the WAL index.
    const isDiskFull = code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE' || code === 'ENOSPC'
    if (isDiskFull) throw new TemporarilyUnavailableError(`${path} can't be opened: the disk is full`, { cause: error })
    throw new Error(`${path} can't be opened: ${message}`, { cause: error })
  }
}
