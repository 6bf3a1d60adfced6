import type { Service } from '../../operations/context.ts'
import { documentsChangedAfter } from './repository.ts'
import type { TrustedDocument } from './trusted-document.ts'

/** Keeps a process up with the documents that are trusted. */
export type TrustedDocumentWatcher = {
  /** Takes what has changed, where the engine tells without being asked that something has; `undefined` where nothing is waited for. */
  readonly refreshIfChanged: () => Promise<void> | undefined
  /** Takes what has changed where the engine tells of nothing: for whoever misses a document. */
  readonly refreshAfterMiss: () => Promise<void> | undefined
  /** Takes all that there is. @throws what the database throws */
  readonly start: () => Promise<void>
  readonly stop: () => void
}

/**
 * Hands on each document that is added or removed, in order, whichever process does it.
 *
 * On SQLite a number tells that something has changed, and it is looked at by each request that asks for a document: so what is
 * removed is gone at once. A server tells of changes within moments, or two seconds at most where nobody could tell; whoever asks
 * for a document that is not known looks at once, but never more than one at a time.
 *
 * @param take told of all changes together; what it does before it waits is done for whoever asks next, and it must not fail
 * @param isWaitedFor whether changes are to be heard of before there is any document
 */
export function watchTrustedDocuments(
  { db }: Service,
  { isWaitedFor, take }: { isWaitedFor: boolean; take: (changed: readonly TrustedDocument[]) => Promise<void> },
): TrustedDocumentWatcher {
  let revision = 0
  let seen: number | null = null
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null
  let stopWatching: (() => void) | null = null
  let taking: Promise<void> = Promise.resolve()
  let isEnded = false

  async function readChanges(): Promise<void> {
    // Taken before the rows are read: what they say holds as of then.
    const version = db.tableVersion('trustedDocuments')
    const changed = await documentsChangedAfter(db, { revision })
    revision = changed.at(-1)?.revision ?? revision
    seen = version
    // What it does at once is done; nobody but the start waits for the rest.
    if (changed.length > 0) taking = take(changed)
    const isTold = version !== null
    if (!isTold && !isEnded && (isWaitedFor || revision > 0)) {
      stopWatching ??= db.watch('trustedDocuments', () => void poll().catch(() => {}))
    }
  }

  /** A look that begins now, or when the one that is on its way has ended. */
  function poll(): Promise<void> {
    if (running !== null) {
      next ??= running
        .catch(() => {})
        .then(() => {
          next = null
          return poll()
        })
      return next
    }
    running = readChanges().finally(() => {
      running = null
    })
    return running
  }

  return {
    refreshIfChanged: () => {
      const version = db.tableVersion('trustedDocuments')
      return version === null || version === seen ? undefined : poll()
    },
    refreshAfterMiss: () => (db.tableVersion('trustedDocuments') === null ? poll() : undefined),
    start: async () => {
      await poll()
      await taking
    },
    stop: () => {
      isEnded = true
      stopWatching?.()
    },
  }
}
