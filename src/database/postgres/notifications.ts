import type pg from 'pg'
import type { TableName } from '../tables.ts'
import type { PrimaryServer } from './failover.ts'

const channel = 'payout_gateway_commits'

const notifyIntervalMs = 10

/** A process can die between its COMMIT and its NOTIFY. Therefore watchers are also called at a fixed interval. */
const fallbackPollMs = 2_000

const reconnectDelayMs = 1_000

export type Notifications = {
  readonly watch: (table: TableName, call: () => void) => () => void
  /** Notifies all processes, including this one. */
  readonly notify: (table: TableName) => void
  readonly close: () => Promise<void>
}

type NotificationWatcher = { readonly table: TableName; readonly call: () => void }

/**
 * Uses LISTEN and NOTIFY on a separate connection. NOTIFY is sent after COMMIT, because a transaction with NOTIFY holds
 * a server-wide lock during its COMMIT. Other commits would wait for the server-wide lock.
 */
export function notifications(primary: PrimaryServer): Notifications {
  const watchers = new Set<NotificationWatcher>()
  const unsent = new Set<TableName>()
  let client: Promise<pg.Client | null> | null = null
  let notifyTimer: NodeJS.Timeout | null = null
  let sending: Promise<unknown> = Promise.resolve()
  let fallbackPoll: NodeJS.Timeout | undefined
  let isClosed = false

  function callWatchers(table: string | null): void {
    for (const watcher of watchers) if (table === null || watcher.table === table) watcher.call()
  }

  function ensureConnected(): Promise<pg.Client | null> {
    client ??= connect()
    return client
  }

  async function connect(): Promise<pg.Client | null> {
    const opened = primary.createClient({ keepAlive: true, connectionTimeoutMillis: 5_000, query_timeout: 5_000 })
    let isLost = false
    // A database client can emit several events when the connection is lost, but must reconnect only once.
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
        if (processId !== backendPidOf(opened)) callWatchers(payload ?? null)
      })
      await opened.query(`listen ${channel}`)
      // Notifications may have been missed before LISTEN.
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

  function scheduleNotify(): void {
    notifyTimer ??= setTimeout(() => {
      sending = sendNotifications()
    }, notifyIntervalMs)
  }

  async function sendNotifications(): Promise<void> {
    const tables = [...unsent]
    unsent.clear()
    const sender = await ensureConnected()
    // If NOTIFY fails, other processes see the change at their next fallback poll.
    await sender?.query(tables.map((table) => `notify ${channel}, '${table}'`).join('; ')).catch(() => {})
    notifyTimer = null
    if (unsent.size > 0 && !isClosed) scheduleNotify()
  }

  return {
    watch: (table, call) => {
      const watcher = { table, call }
      watchers.add(watcher)
      ensureConnected()
      fallbackPoll ??= setInterval(callWatchers, fallbackPollMs, null).unref()
      return () => {
        watchers.delete(watcher)
        if (watchers.size > 0) return
        clearInterval(fallbackPoll)
        fallbackPoll = undefined
      }
    },
    notify: (table) => {
      if (isClosed) return
      callWatchers(table)
      unsent.add(table)
      scheduleNotify()
    },
    close: async () => {
      isClosed = true
      if (notifyTimer) clearTimeout(notifyTimer)
      await sending
      if (unsent.size > 0) await sendNotifications()
      clearInterval(fallbackPoll)
      watchers.clear()
      await (await client)?.end().catch(() => {})
    },
  }
}

function backendPidOf(client: pg.Client): number | undefined {
  return (client as unknown as { processID?: number }).processID
}
