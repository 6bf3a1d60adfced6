import type pg from 'pg'
import type { TableName } from '../tables.ts'
import type { Primary } from './failover.ts'

const channel = 'payout_gateway_commits'

/** Commits of this process within so many milliseconds are told to others together. */
const tellEveryMs = 10

/** How often watchers are called though nothing was heard: whoever commits may end before it has told anyone. */
const inCaseMs = 2_000

/** After how long a lost connection is opened anew. */
const reconnectMs = 1_000

/** Who wants to know when something was committed, in this process or another. */
export type Notifications = {
  /** See `Database.watch`. */
  readonly watch: (table: TableName, call: () => void) => () => void
  /** Tells everyone, in this process and in others, that rows of a table have changed. */
  readonly tell: (table: TableName) => void
  /** Tells what is still to be told. */
  readonly close: () => Promise<void>
}

type Watcher = { readonly table: TableName; readonly call: () => void }

/**
 * Hears of commits by NOTIFY, on a connection of its own.
 *
 * It is sent after the commit and not within: a transaction that notifies holds a lock of the whole server while it commits,
 * so that one would wait for the sync of another.
 */
export function notifications(primary: Primary): Notifications {
  const watchers = new Set<Watcher>()
  const untold = new Set<TableName>()
  let client: Promise<pg.Client | null> | null = null
  let telling: NodeJS.Timeout | null = null
  let sending: Promise<unknown> = Promise.resolve()
  let inCase: NodeJS.Timeout | undefined
  let isClosed = false

  function callAll(table: string | null): void {
    for (const watcher of watchers) if (table === null || watcher.table === table) watcher.call()
  }

  /** The connection, `null` where there is none now; then another is tried after a while. */
  function connected(): Promise<pg.Client | null> {
    client ??= open()
    return client
  }

  async function open(): Promise<pg.Client | null> {
    const opened = primary.connection({ keepAlive: true, connectionTimeoutMillis: 5_000, query_timeout: 5_000 })
    let isLost = false
    // Of one end a client tells several times, and each time another would be opened in its place.
    const lose = () => {
      if (isLost) return
      isLost = true
      opened.removeAllListeners('notification')
      opened.end().catch(() => {})
      if (!isClosed) setTimeout(reopen, reconnectMs).unref()
    }
    opened.on('error', lose)
    opened.on('end', lose)
    try {
      await opened.connect()
      opened.on('notification', ({ payload, processId }) => {
        // What this process tells, it knows already.
        if (processId !== ownProcessId(opened)) callAll(payload ?? null)
      })
      await opened.query(`listen ${channel}`)
      // Something may have been told while nobody listened.
      callAll(null)
      return opened
    } catch {
      lose()
      return null
    }
  }

  function reopen(): void {
    client = null
    if (watchers.size > 0 && !isClosed) connected()
  }

  /** What is still to be told when the time comes is told then, after what is being told now. */
  function tellSoon(): void {
    telling ??= setTimeout(() => {
      sending = send()
    }, tellEveryMs)
  }

  async function send(): Promise<void> {
    const tables = [...untold]
    untold.clear()
    const sender = await connected()
    // Those who are not told look by themselves.
    await sender?.query(tables.map((table) => `notify ${channel}, '${table}'`).join('; ')).catch(() => {})
    telling = null
    if (untold.size > 0 && !isClosed) tellSoon()
  }

  return {
    watch: (table, call) => {
      const watcher = { table, call }
      watchers.add(watcher)
      connected()
      inCase ??= setInterval(callAll, inCaseMs, null).unref()
      return () => {
        watchers.delete(watcher)
        if (watchers.size > 0) return
        clearInterval(inCase)
        inCase = undefined
      }
    },
    tell: (table) => {
      if (isClosed) return
      callAll(table)
      untold.add(table)
      tellSoon()
    },
    close: async () => {
      isClosed = true
      if (telling) clearTimeout(telling)
      await sending
      if (untold.size > 0) await send()
      clearInterval(inCase)
      watchers.clear()
      await (await client)?.end().catch(() => {})
    },
  }
}

function ownProcessId(client: pg.Client): number | undefined {
  return (client as unknown as { processID?: number }).processID
}
