import type Sqlite from 'better-sqlite3'
import { unavailable } from '../../core/errors.ts'

/** How long another process that holds the write lock is waited for. */
const lockTimeoutMs = 5_000

/** Before any epoch that a service takes. */
const notTaken = -1

/** Which service a database is written by: each takes the next epoch when it starts. */
export type WriterEpoch = {
  /** See `Database.takeOver`. */
  readonly take: (onTakenOver: () => void) => void
  /** @throws Refusal UNAVAILABLE once another service has taken the next epoch */
  readonly requireCurrent: () => void
  /** @throws Refusal UNAVAILABLE then, and where the epoch could not be taken yet */
  readonly requireForWrite: () => void
}

/**
 * The epoch of the database that `raw` writes: a number in the file's own header (`user_version`), which is read with the
 * first page, and so costs next to nothing.
 *
 * Whoever asks within a transaction that holds the write lock can be sure of it until its end: nobody can take the next
 * epoch in between. So a process that was stopped with operations in its hands can't commit them once another has taken its
 * place.
 *
 * Only services take an epoch. A command beside them does what its operator asks for now, holds nothing for others, and so
 * takes and requires none: it must not end a service, nor be ended by one that starts.
 */
export function writerEpoch(raw: Sqlite.Database): WriterEpoch {
  const current = raw.prepare('pragma user_version').pluck()
  const takeNext = raw.transaction(() => {
    const next = (current.get() as number) + 1
    raw.pragma(`user_version = ${next}`)
    return next
  })
  let own: number | null = null
  let tell = () => {}

  function requireCurrent() {
    if (own === null || own === notTaken || current.get() === own) return
    tell()
    tell = () => {}
    throw unavailable('Another service has taken this database over: nothing is stored here any more.')
  }

  return {
    take: (onTakenOver) => {
      // Somebody who tries until it succeeds may still try when all is over.
      if (!raw.open) return
      // Whoever means to take it writes nothing before: the service whose place it takes may still do.
      own ??= notTaken
      const timeout = raw.pragma('busy_timeout', { simple: true })
      raw.pragma(`busy_timeout = ${lockTimeoutMs}`)
      try {
        own = takeNext.immediate()
      } finally {
        raw.pragma(`busy_timeout = ${timeout}`)
      }
      tell = onTakenOver
    },
    requireCurrent,
    requireForWrite: () => {
      if (own === notTaken) throw unavailable('The database can not be taken over yet: nothing is stored until then.')
      requireCurrent()
    },
  }
}
