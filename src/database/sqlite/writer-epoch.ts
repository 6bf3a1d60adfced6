import type Sqlite from 'better-sqlite3'
import { unavailable } from '../../core/errors.ts'
import { lockTimeoutMs } from './sqlite-connection.ts'

/** Before `take` has succeeded; never stored. */
const notTaken = -1

/** Fencing: each service increments the writer epoch when it starts, and earlier services can no longer commit. */
export type WriterEpoch = {
  /** See `Database.takeOver`. */
  readonly take: (onTakenOver: () => void) => void
  /** @throws DomainError UNAVAILABLE once another service has taken a later epoch */
  readonly requireCurrent: () => void
  /** @throws DomainError UNAVAILABLE then, and while `take` has not succeeded */
  readonly requireForWrite: () => void
}

/**
 * The writer epoch of the database that `raw` writes. It is `user_version` in the header of the file, on the first page, so reading
 * it costs next to nothing.
 *
 * A check inside a transaction with the write lock holds until the transaction ends, because no process can take the next epoch
 * meanwhile. So a process that was suspended can't commit its queued writes after another has taken over.
 *
 * Only services take an epoch. A command neither takes nor requires one: it must not end a service, nor be ended by one.
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
      // A caller that retries may do so after the database was closed.
      if (!raw.open) return
      // Reject writes until it succeeds: the previous service may still commit.
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
