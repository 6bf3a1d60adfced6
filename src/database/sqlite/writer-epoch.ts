import type Sqlite from 'better-sqlite3'
import { unavailable } from '../../core/errors.ts'
import { fencedMessage } from '../copy/copy-side.ts'
import { TemporarilyUnavailableError } from '../database.ts'
import { lockTimeoutMs } from './sqlite-connection.ts'

/** The writer epoch of a service before `take` succeeds. The database never contains this epoch. */
const notTaken = -1

/** Fencing: each service increments the writer epoch when it starts, so that earlier services can no longer commit. */
export type WriterEpoch = {
  readonly take: (onTakenOver: () => void) => void
  /** @throws DomainError UNAVAILABLE if another service has taken a later epoch */
  readonly requireCurrent: () => void
  /** Like `requireCurrent`, and also rejects writes until `take` has succeeded. */
  readonly requireForWrite: () => void
}

/**
 * The writer epoch is `user_version` in the header of the file.
 *
 * A check inside a transaction that holds the write lock is valid until the transaction ends, because no process can
 * take the next epoch without the lock. So a suspended process cannot commit its queued writes after another process
 * has taken over. Commands neither take nor require a writer epoch, so they do not stop a service.
 *
 * A negative epoch is the fence of a copy to another database: no process commits until `unfenceEpoch` is called. The
 * services of a fenced database do not exit, because their process manager would start them again on the same database.
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
      // A caller may retry the takeover after the database was closed.
      if (!raw.open) return
      // Rejects writes until `takeNext` succeeds, because the previous service may still commit.
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

/** `fenceEpoch` is called in the transaction that stores the copy's marker. */
export function fenceEpoch(raw: Sqlite.Database): void {
  raw.pragma(`user_version = ${-(Math.abs(readEpoch(raw)) + 1)}`)
}

/** Services that ran before the fence still cannot commit. */
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
