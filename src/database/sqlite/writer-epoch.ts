import type Sqlite from 'better-sqlite3'
import { unavailable } from '../../core/errors.ts'
import { fencedMessage } from '../copy/copy-side.ts'
import { TemporarilyUnavailableError } from '../database.ts'
import { lockTimeoutMs } from './sqlite-connection.ts'

const notTaken = -1

/** Fencing: each service increments the writer epoch when it starts, so that earlier services can no longer commit. */
export type WriterEpoch = {
  readonly take: (onTakenOver: () => void) => void
  /** @throws DomainError UNAVAILABLE if another service has taken a later epoch */
  readonly requireCurrent: () => void
  /** Rejects a write if another service has taken a later epoch, or if `take` has not succeeded. */
  readonly requireForWrite: () => void
}

/**
 * The writer epoch is `user_version` in the header of the database file.
 *
 * The epoch must be checked inside a transaction that holds the write lock. No other process can take the next epoch
 * before the transaction ends, so a suspended process cannot commit queued writes after another process has become the
 * writer. CLI commands do not use the writer epoch, so a command does not stop a running service.
 *
 * While the database is being copied to another database, the epoch is negative (fenced), and no process can commit. A
 * fenced service does not exit, because a process manager would restart the service on the same database.
 */
export function writerEpoch(raw: Sqlite.Database): WriterEpoch {
  const current = raw.prepare('pragma user_version').pluck()
  const takeNext = raw.transaction(() => {
    const epoch = current.get() as number
    if (epoch < 0) throw new TemporarilyUnavailableError(fencedMessage)
    raw.pragma(`user_version = ${epoch + 1}`)
    return epoch + 1
  })
  let own: number | null = null
  let notifyTakenOver = () => {}

  function requireCurrent() {
    const epoch = current.get() as number
    if (epoch < 0) throw Object.assign(unavailable(fencedMessage), { cause: fenceReason(raw) })
    if (own === null || own === notTaken || epoch === own) return
    notifyTakenOver()
    notifyTakenOver = () => {}
    throw unavailable('Another service has taken over the database: this one stores nothing any more.')
  }

  return {
    take: (onTakenOver) => {
      // A caller may retry `take` after the database was closed.
      if (!raw.open) return
      // Until `takeNext` succeeds, another service may still be the writer.
      own ??= notTaken
      const timeout = raw.pragma('busy_timeout', { simple: true })
      raw.pragma(`busy_timeout = ${lockTimeoutMs}`)
      try {
        own = takeNext.immediate()
      } finally {
        raw.pragma(`busy_timeout = ${timeout}`)
      }
      notifyTakenOver = onTakenOver
    },
    requireCurrent,
    requireForWrite: () => {
      requireCurrent()
      if (own === notTaken) throw unavailable('This service has not taken over the database yet, and stores nothing.')
    },
  }
}

/** Call `fenceEpoch` in the transaction that stores the marker of a database copy. */
export function fenceEpoch(raw: Sqlite.Database): void {
  raw.pragma(`user_version = ${-(Math.abs(readEpoch(raw)) + 1)}`)
}

/** Increments the epoch, so that services that started before the copy still cannot commit. */
export function unfenceEpoch(raw: Sqlite.Database): void {
  raw.pragma(`user_version = ${Math.abs(readEpoch(raw)) + 1}`)
}

function readEpoch(raw: Sqlite.Database): number {
  return raw.pragma('user_version', { simple: true }) as number
}

function fenceReason(raw: Sqlite.Database): Error {
  const copy = raw.prepare('select role, other from database_copies').get() as
    | { readonly role: string; readonly other: string }
    | undefined
  const direction = copy?.role === 'target' ? 'from' : 'to'
  return new Error(`the database is being copied ${direction} ${copy?.other ?? 'another'}, or was moved`)
}
