import type { TableName } from '../tables.ts'

/** How often it is looked whether another process has committed something, while anybody wants to know. */
const pollIntervalMs = 100

/** Who wants to know when something was committed. */
export type CommitWatch = {
  /** See `Database.watch`. */
  readonly watch: (table: TableName, call: () => void) => () => void
  /** Has it look soon, because this process has committed something. */
  readonly pollSoon: () => void
  readonly close: () => void
}

type CommitWatcher = { readonly table: TableName; readonly call: () => void; seenVersion: number | null }

/** @param version of a table, as `Database.version` */
export function commitWatch(version: (table: TableName) => number): CommitWatch {
  const watchers = new Set<CommitWatcher>()
  let timer: NodeJS.Timeout | undefined
  let soon: NodeJS.Immediate | null = null

  function poll(): void {
    for (const watcher of watchers) {
      const now = readVersion(watcher.table)
      if (now === watcher.seenVersion) continue
      watcher.seenVersion = now
      watcher.call()
    }
  }

  /** `null` while the file can't be read, of which whoever then reads it hears. */
  function readVersion(table: TableName): number | null {
    try {
      return version(table)
    } catch {
      return null
    }
  }

  function close(): void {
    watchers.clear()
    clearInterval(timer)
    timer = undefined
    if (soon) clearImmediate(soon)
  }

  return {
    watch: (table, call) => {
      const watcher = { table, call, seenVersion: readVersion(table) }
      watchers.add(watcher)
      timer ??= setInterval(poll, pollIntervalMs).unref()
      return () => {
        watchers.delete(watcher)
        if (watchers.size === 0) close()
      }
    },
    pollSoon: () => {
      if (watchers.size === 0 || soon) return
      // After whoever is answered by the commit.
      soon = setImmediate(() => {
        soon = null
        poll()
      })
    },
    close,
  }
}
