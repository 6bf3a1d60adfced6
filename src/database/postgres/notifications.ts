import type pg from 'pg'
import type { TableName } from '../tables.ts'
import type { PrimaryServer } from './failover.ts'

const channel = 'payout_gateway_commits'

/** Commits of this process within so many milliseconds are told to others together. */
const notifyIntervalMs = 10

/** How often watchers are called though nothing was heard: whoever commits may end before it has told anyone. */
const fallbackPollMs = 2_000

/** After how long a lost connection is opened anew. */
const reconnectDelayMs = 1_000

/** Who wants to know when something was committed, in this process or another. */
export type Notifications = {
  /** See `Database.watch`. */
  readonly watch: (table: TableName, call: () => void) => () => void
  /** Tells everyone, in this process and in others, that rows of a table have changed. */
  readonly notify: (table: TableName) => void
  /** Tells what is still to be told. */
  readonly close: () => Promise<void>
}

type NotificationWatcher = { readonly table: TableName; readonly call: () => void }

/**
 * Hears of commits by NOTIFY, on a connection of its own.
 *
 * It is sent after the commit and not within: a transaction that notifies holds a lock of the whole server while it commits,
 * so that one would wait for the sync of another.
 */
export function notifications(primary: PrimaryServer): Notifications {
  const watchers = new Set<NotificationWatcher>()
  const untold = new Set<TableName>()
  let client: Promise<pg.Client | null> | null = null
  let telling: NodeJS.Timeout | null = null
  let sending: Promise<unknown> = Promise.resolve()
  let inCase: NodeJS.Timeout | undefined
  let isClosed = false

  function callWatchers(table: string | null): void {
    for (const watcher of watchers) if (table === null || watcher.table === table) watcher.call()
  }

  /** The connection, `null` where there is none now; then another is tried after a while. */
  function ensureConnected(): Promise<pg.Client | null> {
    client ??= connect()
    return client
  }

  async function connect(): Promise<pg.Client | null> {
    const opened = primary.createClient({ keepAlive: true, connectionTimeoutMillis: 5_000, query_timeout: 5_000 })
    let isLost = false
    // Of one end a client tells several times, and each time another would be opened in its place.
    const handleLoss = () => {
      if (isLost) return
      isLost = true
      opened.removeAllListeners('notification')
      opened.end().catch(() => {})
      if (!isClosed) setTimeout(reconnect, reconnectDelayMs).unref()
    }
    opened.on('error', handleLoss)
    opened.on('end', handleLoss)
    try {
      await opened.connect()
      opened.on('notification', ({ payload, processId }) => {
        // What this process tells, it knows already.
        if (processId !== backendPidOf(opened)) callWatchers(payload ?? null)
      })
      await opened.query(`listen ${channel}`)
      // Something may have been told while nobody listened.
      callWatchers(null)
      return opened
    } catch {
      handleLoss()
      return null
    }
  }

  function reconnect(): void {
    client = null
    if (watchers.size > 0 && !isClosed) ensureConnected()
  }

  /** What is still to be told when the time comes is told then, after what is being told now. */
  function scheduleNotify(): void {
    telling ??= setTimeout(() => {
      sending = sendNotifications()
    }, notifyIntervalMs)
  }

  async function sendNotifications(): Promise<void> {
    const tables = [...untold]
    untold.clear()
    const sender = await ensureConnected()
    // Those who are not told look by themselves.
    await sender?.query(tables.map((table) => `notify ${channel}, '${table}'`).join('; ')).catch(() => {})
    telling = null
    if (untold.size > 0 && !isClosed) scheduleNotify()
  }

  return {
    watch: (table, call) => {
      const watcher = { table, call }
      watchers.add(watcher)
      ensureConnected()
      inCase ??= setInterval(callWatchers, fallbackPollMs, null).unref()
      return () => {
        watchers.delete(watcher)
        if (watchers.size > 0) return
        clearInterval(inCase)
        inCase = undefined
      }
    },
    notify: (table) => {
      if (isClosed) return
      callWatchers(table)
      untold.add(table)
      scheduleNotify()
    },
    close: async () => {
      isClosed = true
      if (telling) clearTimeout(telling)
      await sending
      if (untold.size > 0) await sendNotifications()
      clearInterval(inCase)
      watchers.clear()
      await (await client)?.end().catch(() => {})
    },
  }
}

function backendPidOf(client: pg.Client): number | undefined {
  return (client as unknown as { processID?: number }).processID
}
