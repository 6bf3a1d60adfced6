import type { TableName } from '../tables.ts'

/** How often it is looked whether another process has committed something, while anybody wants to know. */
const lookEveryMs = 100

/** Who wants to know when something was committed. */
export type CommitWatch = {
  /** See `Database.watch`. */
  readonly watch: (table: TableName, call: () => void) => () => void
  /** Has it look soon, because this process has committed something. */
  readonly look: () => void
  readonly close: () => void
}

type Watcher = { readonly table: TableName; readonly call: () => void; seen: number | null }

/** @param version of a table, as `Database.version` */
export function commitWatch(version: (table: TableName) => number): CommitWatch {
  const watchers = new Set<Watcher>()
  let timer: NodeJS.Timeout | undefined
  let soon: NodeJS.Immediate | null = null

  function look(): void {
    for (const watcher of watchers) {
      const now = versionOf(watcher.table)
      if (now === watcher.seen) continue
      watcher.seen = now
      watcher.call()
    }
  }

  /** `null` while the file can't be read, of which whoever then reads it hears. */
  function versionOf(table: TableName): number | null {
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
      const watcher = { table, call, seen: versionOf(table) }
      watchers.add(watcher)
      timer ??= setInterval(look, lookEveryMs).unref()
      return () => {
        watchers.delete(watcher)
        if (watchers.size === 0) close()
      }
    },
    look: () => {
      if (watchers.size === 0 || soon) return
      // After whoever is answered by the commit.
      soon = setImmediate(() => {
        soon = null
        look()
      })
    },
    close,
  }
}
