import type { Reader } from '../query.ts'
import type { SqliteConnection } from './connection.ts'

/** The read side: `refresh` makes later reads see what has been committed since, and `version` changes when anything was. */
export type SqliteReader = Reader & { readonly refresh: () => void; readonly version: () => number }

/**
 * Reads on a read-only connection, with one read transaction for each turn of the event loop.
 *
 * A statement inside an open transaction costs a quarter of one that opens its own, and a page and its total come from
 * the same snapshot. The transaction ends with the turn, so it neither serves stale rows nor holds up a checkpoint.
 */
export function sqliteReader(connection: SqliteConnection): SqliteReader {
  const begin = connection.raw.prepare('begin')
  // Ending by ROLLBACK needs no I/O, so it works even after a read has failed and closed the transaction by itself.
  const end = connection.raw.prepare('rollback')
  // Other connections' commits change it, and this one makes none.
  const dataVersion = connection.raw.prepare('pragma data_version').pluck()
  let isOpen = false
  let version: number | null = null

  function open(): void {
    if (isOpen) return
    begin.run()
    isOpen = true
    version = null
    setImmediate(refresh)
  }

  function refresh(): void {
    if (!isOpen) return
    isOpen = false
    if (connection.raw.inTransaction) end.run()
  }

  return {
    refresh,
    version: () => {
      open()
      version ??= dataVersion.get() as number
      return version
    },
    execute: async <Result>(query: Parameters<Reader['execute']>[0], params: object) => {
      open()
      return connection.run(query, params) as Result[]
    },
  }
}
