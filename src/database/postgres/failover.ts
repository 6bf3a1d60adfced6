import type { ClientBase, ClientConfig } from 'pg'
import pg from 'pg'
import type { ServerTarget } from './connection-url.ts'

const probeIntervalMs = 2_000
const probeTimeoutMs = 3_000

export type PrimaryServer = {
  readonly createClient: (options: ClientConfig) => pg.Client
  readonly Client: new (options?: ClientConfig) => pg.Client
  readonly currentIndex: () => number
  /**
   * Finds the primary, and closes connections to other servers. Does nothing if the URL has only one server.
   *
   * @throws Error with a reason for each server, if none is the primary
   */
  readonly find: () => Promise<void>
  /**
   * Until `result` settles, the function searches for the primary every 2 s, and closes connections to a frozen server.
   */
  readonly probeWhileWaiting: <Result>(result: Promise<Result>) => Promise<Result>
}

/**
 * Probes all servers concurrently, because a frozen server accepts connections but never responds. The first server
 * that passes `requirePrimary` is the primary.
 *
 * @param check the SQL of the probe; `isStandbySql` writes nothing
 */
export function followPrimary(servers: readonly ServerTarget[], check = replicate): PrimaryServer {
  const opened = new Map<pg.Client, number>()
  let current = 0
  let probing: Promise<void> | null = null

  class PrimaryClient extends pg.Client {
    constructor(options?: ClientConfig) {
      const index = current
      super({ ...options, ...(servers[index] as ServerTarget).config })
      opened.set(this, index)
      this.once('end', () => opened.delete(this))
    }
  }

  function find(): Promise<void> {
    if (servers.length === 1) return Promise.resolve()
    probing ??= probeServers().finally(() => {
      probing = null
    })
    return probing
  }

  async function probeServers(): Promise<void> {
    try {
      current = await Promise.any(servers.map((server, index) => probeServer(server, check).then(() => index)))
    } catch (error) {
      const causes = (error as AggregateError).errors as Error[]
      const reasons = servers.map(({ name }, index) => `${name}: ${causes[index]?.message}`)
      throw Object.assign(new Error(`No server accepts writes (${reasons.join('; ')})`), { code: 'ECONNREFUSED' })
    }
    for (const [client, index] of opened) if (index !== current) client.connection.stream.destroy()
  }

  async function probeWhileWaiting<Result>(result: Promise<Result>): Promise<Result> {
    if (servers.length === 1) return result
    const timer = setInterval(() => find().catch(() => {}), probeIntervalMs)
    return result.finally(() => clearInterval(timer))
  }

  return {
    createClient: (options) => new PrimaryClient(options),
    Client: PrimaryClient,
    currentIndex: () => current,
    find,
    probeWhileWaiting,
  }
}

async function probeServer({ config }: ServerTarget, check: string): Promise<void> {
  const client = new pg.Client({
    options: '-c synchronous_commit=on',
    ...config,
    connectionTimeoutMillis: probeTimeoutMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await requirePrimary(client, check)
  } finally {
    client.end().catch(() => {})
  }
}

/**
 * Makes the next COMMIT wait for the synchronous standbys, if there are any. This statement writes a WAL record,
 * because a COMMIT without a WAL record does not wait.
 */
export const replicate = `select case when not pg_is_in_recovery() and current_setting('synchronous_standby_names') <> ''
  then pg_logical_emit_message(true, 'payout_gateway', '') end, pg_is_in_recovery() as "isStandby"`

export const isStandbySql = 'select pg_is_in_recovery() as "isStandby"'

/**
 * Throws if the server is not the primary. Waits until the synchronous standbys have stored all commits that are
 * visible on this server.
 *
 * After a crash, PostgreSQL also shows commits that are not replicated yet. A failover would lose commits that are not
 * replicated. The check also fails on a former primary after a failover, because the standbys follow another server.
 *
 * @throws Error if the check fails, or if it takes longer than `probeTimeoutMs`, which also closes the connection
 */
export async function requirePrimary(client: ClientBase, check = replicate): Promise<void> {
  let hasWarning = false
  const handleNotice = ({ code }: { code?: string | undefined }) => {
    hasWarning ||= isWarning(code)
  }
  client.on('notice', handleNotice)
  const stream = (client as pg.Client).connection.stream
  const timeout = setTimeout(() => stream.destroy(), probeTimeoutMs)
  try {
    const { rows } = await client.query<{ isStandby: boolean }>(check)
    if (rows[0]?.isStandby) throw Object.assign(new Error('it is a standby'), { code: '25006' })
    if (hasWarning) throw Object.assign(new Error('the wait for its standbys was cancelled'), { code: '57014' })
  } finally {
    clearTimeout(timeout)
    client.off('notice', handleNotice)
  }
}

/** If COMMIT returns a warning, the wait for a standby was cancelled, so a failover can lose the commit. */
export function isWarning(code: string | undefined): boolean {
  return code?.startsWith('01') === true
}
