import type { ClientBase, ClientConfig } from 'pg'
import pg from 'pg'
import type { ServerTarget } from './connection-url.ts'

/** How long something may take before it is asked whether another server has taken the place, and each server to say so. */
const probeIntervalMs = 2_000
const probeTimeoutMs = 3_000

/** The servers that a database may be on, of which one takes writes at a time. */
export type PrimaryServer = {
  /** A connection to the one that took writes when it was last looked; the pool makes its own of `Client`. */
  readonly createClient: (options: ClientConfig) => pg.Client
  readonly Client: new (options?: ClientConfig) => pg.Client
  /** Its number among all. */
  readonly currentIndex: () => number
  /**
   * Looks which one takes writes, where there are several; connections to any other are broken off.
   *
   * @throws Error that says of each why it is not the one
   */
  readonly find: () => Promise<void>
  /** Waits, and looks now and then for as long as that takes unusually long: a server that froze says nothing at all. */
  readonly probeWhileWaiting: <Result>(answer: Promise<Result>) => Promise<Result>
}

/**
 * Follows the one server of several that takes writes.
 *
 * All are asked at once, because one that is frozen takes a connection and then says nothing; the first that passes
 * `requirePrimary` is it.
 *
 * @param check what each is asked: `isStandby` where nothing may be changed
 */
export function followPrimary(places: readonly ServerTarget[], check = replicate): PrimaryServer {
  const opened = new Map<pg.Client, number>()
  let current = 0
  let looking: Promise<void> | null = null

  class PlacedClient extends pg.Client {
    constructor(options?: ClientConfig) {
      const place = current
      super({ ...options, ...configOf(places, place) })
      opened.set(this, place)
      this.once('end', () => opened.delete(this))
    }
  }

  function find(): Promise<void> {
    if (places.length === 1) return Promise.resolve()
    looking ??= probeServers().finally(() => {
      looking = null
    })
    return looking
  }

  async function probeServers(): Promise<void> {
    try {
      current = await Promise.any(places.map((each, place) => probeServer(each, check).then(() => place)))
    } catch (error) {
      const causes = (error as AggregateError).errors as Error[]
      const told = places.map(({ name }, place) => `${name}: ${causes[place]?.message}`)
      throw Object.assign(new Error(`No server takes writes (${told.join('; ')})`), { code: 'ECONNREFUSED' })
    }
    for (const [client, place] of opened) if (place !== current) client.connection.stream.destroy()
  }

  async function probeWhileWaiting<Result>(answer: Promise<Result>): Promise<Result> {
    if (places.length === 1) return answer
    const timer = setInterval(() => find().catch(() => {}), probeIntervalMs)
    return answer.finally(() => clearInterval(timer))
  }

  return {
    createClient: (options) => new PlacedClient(options),
    Client: PlacedClient,
    currentIndex: () => current,
    find,
    probeWhileWaiting,
  }
}

function configOf(places: readonly ServerTarget[], place: number): ClientConfig {
  return (places[place] as ServerTarget).config
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
 * What has whoever commits next wait for the synchronous standbys, if there are any, with all that was committed before: a
 * commit that wrote nothing waits for nobody. A standby can't do it.
 */
export const replicate = `select case when not pg_is_in_recovery() and current_setting('synchronous_standby_names') <> ''
  then pg_logical_emit_message(true, 'payout_gateway', '') end, pg_is_in_recovery() as "isStandby"`

/** Asks no more than whether it is a standby. */
export const isStandbySql = 'select pg_is_in_recovery() as "isStandby"'

/**
 * Lets a new connection be used only to a server that takes writes, and that shows nothing which its synchronous standbys
 * don't have.
 *
 * PostgreSQL shows what was being committed when it crashed as soon as it is up again, replicated or not, and a failover then
 * takes it back: so whoever connects waits first until the standbys have all of it. A primary that was replaced without
 * knowing it does not come through this, because its standbys follow another.
 *
 * @throws Error, also where it takes too long; the connection is broken off then
 */
export async function requirePrimary(client: ClientBase, check = replicate): Promise<void> {
  let isWarned = false
  const note = ({ code }: { code?: string | undefined }) => {
    isWarned ||= isWarning(code)
  }
  client.on('notice', note)
  const stream = (client as pg.Client).connection.stream
  const timeout = setTimeout(() => stream.destroy(), probeTimeoutMs)
  try {
    const { rows } = await client.query<{ isStandby: boolean }>(check)
    if (rows[0]?.isStandby) throw Object.assign(new Error('it is a standby'), { code: '25006' })
    if (isWarned) throw Object.assign(new Error('its standbys were not waited for'), { code: '57014' })
  } finally {
    clearTimeout(timeout)
    client.off('notice', note)
  }
}

/**
 * Whether a notice of PostgreSQL's is a warning, in any language. With one a COMMIT can succeed that should have waited for a
 * standby: somebody cancelled the wait, and what was committed may be gone after a failover.
 */
export function isWarning(code: string | undefined): boolean {
  return code?.startsWith('01') === true
}
