import type Sqlite from 'better-sqlite3'
import { unavailable } from '../../core/errors.ts'
import { lockTimeoutMs } from './sqlite-connection.ts'

/** The epoch until `take` succeeds; never stored. */
const notTaken = -1

/** Fencing: each service increments the writer epoch when it starts, so that earlier services can no longer commit. */
export type WriterEpoch = {
  /** See `Database.takeOver`. */
  readonly take: (onTakenOver: () => void) => void
  /** @throws DomainError UNAVAILABLE if another service has taken a later epoch */
  readonly requireCurrent: () => void
  /** @throws DomainError UNAVAILABLE if `take` has not succeeded yet, or another service has taken a later epoch */
  readonly requireForWrite: () => void
}

/**
 * The writer epoch of the database that `raw` writes: `user_version` in the file's header, which costs almost nothing
 * to read.
 *
 * A check inside a transaction that holds the write lock is valid until the transaction ends, because no process can
 * take the next epoch without the lock. So a suspended process cannot commit its queued writes after another process
 * has taken over.
 *
 * Only services take an epoch. Commands neither take nor require one, so commands and services do not stop each other.
 */
export function writerEpoch(raw: Sqlite.Database): WriterEpoch {
  const current = raw.prepare('pragma user_version').pluck()
  const takeNext = raw.transaction(() => {
    const next = (current.get() as number) + 1
    raw.pragma(`user_version = ${next}`)
    return next
  })
  let own: number | null = null
  let notifyTakenOver = () => {}

  function requireCurrent() {
    if (own === null || own === notTaken || current.get() === own) return
    notifyTakenOver()
    notifyTakenOver = () => {}
    throw unavailable('Another service has taken over the database: this one stores nothing any more.')
  }

  return {
    take: (onTakenOver) => {
      // A caller may retry after the database was closed.
      if (!raw.open) return
      // Rejects writes until this succeeds, because the previous service may still commit.
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
      if (own === notTaken) throw unavailable('This service has not taken over the database yet, and stores nothing.')
      requireCurrent()
    },
  }
}
