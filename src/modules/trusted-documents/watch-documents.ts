import type { Service } from '../../operations/context.ts'
import { documentsChangedAfter } from './repository.ts'
import type { TrustedDocument } from './trusted-document.ts'

export type TrustedDocumentWatcher = {
  /**
   * Applies changes to the trusted documents if the table version has changed (SQLite). Returns `undefined` if there is
   * nothing to await.
   */
  readonly refreshIfChanged: () => Promise<void> | undefined
  /** On PostgreSQL, applies changes to the trusted documents before a document is reported as unknown. */
  readonly refreshAfterMiss: () => Promise<void> | undefined
  readonly start: () => Promise<void>
  readonly stop: () => void
}

/**
 * Calls `apply`, in order, with documents that any process has added or removed.
 *
 * On SQLite, each request for a document checks whether the table version has changed, so a removed document is
 * rejected immediately. On PostgreSQL, notifications report changes. If a notification is lost, a poll finds the
 * changes within two seconds.
 *
 * @param apply gets all changes in one call and must not fail; the synchronous part of `apply` takes effect before the
 *   next request
 * @param isWaitedFor whether to watch for changes even if no document was ever added
 */
export function watchTrustedDocuments(
  { db }: Service,
  { isWaitedFor, apply }: { isWaitedFor: boolean; apply: (changed: readonly TrustedDocument[]) => Promise<void> },
): TrustedDocumentWatcher {
  let revision = 0
  let seenVersion: number | null = null
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null
  let stopWatching: (() => void) | null = null
  let applying: Promise<void> = Promise.resolve()
  let isStopped = false

  async function readChanges(): Promise<void> {
    // The table version is read before the rows, so that the version is never newer than the rows.
    const version = db.tableVersion('trustedDocuments')
    const changed = await documentsChangedAfter(db, { revision })
    revision = changed.at(-1)?.revision ?? revision
    seenVersion = version
    if (changed.length > 0) applying = apply(changed)
    if (version === null && !isStopped && (isWaitedFor || revision > 0)) {
      stopWatching ??= db.watch('trustedDocuments', () => void poll().catch(() => {}))
    }
  }

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
      return version === null || version === seenVersion ? undefined : poll()
    },
    refreshAfterMiss: () => (db.tableVersion('trustedDocuments') === null ? poll() : undefined),
    start: async () => {
      await poll()
      await applying
    },
    stop: () => {
      isStopped = true
      stopWatching?.()
    },
  }
}
