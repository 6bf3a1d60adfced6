import type { Stats } from 'node:fs'
import { statSync } from 'node:fs'
import { unavailable } from '../../core/errors.ts'

/** What SQLite adds to the path of a database for its files: the database itself, its log, and the index of that. */
const fileDescriptions = {
  '': 'The database file',
  '-wal': 'The log of the database (-wal)',
  '-shm': 'The index of the database’s log (-shm)',
} as const
type FileSuffix = keyof typeof fileDescriptions

/** What became of a file since it was opened, as far as its name tells. */
type FileStatus = 'same' | 'removed' | 'replaced'

/** What became of each file; `isLogEmpty` where one is there in the place of the log that holds nothing yet. */
export type FileStatuses = Readonly<Record<FileSuffix, FileStatus>> & { readonly isWalEmpty: boolean }

/** Watches over the names of the files that a process has open. */
export type FileWatch = {
  /**
   * Looks at all three.
   *
   * @throws Refusal UNAVAILABLE from the first time on that one is not what was opened
   */
  readonly requireUnchanged: () => void
  /** The same for what only reads: looks at most every 100 ms, in which no other process of ours starts and commits. */
  readonly requireRecentlyUnchanged: () => void
  /** Looks, and answers instead of throwing. */
  readonly isUnchanged: () => boolean
  /** Stops looking by itself. */
  readonly close: () => void
}

const checkIntervalMs = 100
const idleCheckIntervalMs = 1_000

/**
 * Holds that the database at `path`, its log and the index of that are the files that this process has open: SQLite goes on
 * in files that have no name any more, and what it acknowledges there is gone with the process.
 *
 * Whatever others did to the files meanwhile can't be known, so a process that has seen a change once has stopped for good.
 * It looks by itself too, so that a process that nobody asks stops as well.
 *
 * @param onChange called once, with what became of the files; what it answers is told to whoever asks from then on
 */
export function watchFiles(path: string, onChange: (fates: FileStatuses) => string): FileWatch {
  const suffixes = Object.keys(fileDescriptions) as FileSuffix[]
  const opened = suffixes.map((suffix) => ({ suffix, path: path + suffix, ...statSync(path + suffix) }))
  let lookedAt = performance.now()
  let stopped: string | null = null

  function requireUnchanged(): void {
    if (stopped !== null) throw unavailable(stopped)
    if (!opened.every((file) => fileStatusOf(file) === 'same')) stop()
    lookedAt = performance.now()
  }

  function stop(): never {
    const fates = Object.fromEntries(opened.map((file) => [file.suffix, fileStatusOf(file)])) as Record<
      FileSuffix,
      FileStatus
    >
    const changed = suffixes.find((suffix) => fates[suffix] !== 'same') ?? ''
    stopped = `${fileDescriptions[changed]} was ${fates[changed]} while the service had it open.`
    stopped = `${stopped} ${onChange({ ...fates, isWalEmpty: statFile(`${path}-wal`)?.size === 0 })}`
    throw unavailable(stopped)
  }

  function isUnchanged(): boolean {
    try {
      requireUnchanged()
    } catch {
      if (stopped !== null) clearInterval(idle)
    }
    return stopped === null
  }

  const idle = setInterval(isUnchanged, idleCheckIntervalMs)
  idle.unref()

  return {
    requireUnchanged: requireUnchanged,
    requireRecentlyUnchanged: () => {
      if (stopped !== null || performance.now() - lookedAt >= checkIntervalMs) requireUnchanged()
    },
    isUnchanged,
    close: () => clearInterval(idle),
  }
}

function fileStatusOf({
  path,
  dev,
  ino,
}: {
  readonly path: string
  readonly dev: number
  readonly ino: number
}): FileStatus {
  const found = statFile(path)
  if (found === undefined) return 'removed'
  return found.ino === ino && found.dev === dev ? 'same' : 'replaced'
}

function statFile(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw Object.assign(unavailable('The files of the database can not be looked at.'), { cause: error })
  }
}
