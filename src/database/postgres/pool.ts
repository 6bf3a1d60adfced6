import type { Client } from 'pg'
import pg from 'pg'
import { unavailable } from '../../core/errors.ts'
import { statementCache } from '../statement-cache.ts'
import type { PoolSizes } from './connection-url.ts'
import type { PrimaryServer } from './failover.ts'
import { requirePrimary } from './failover.ts'
import type { DescribedStatements, PostgresConnection, SendStatements } from './postgres-connection.ts'
import { maxPreparedProjections, postgresConnection } from './postgres-connection.ts'
import { isConnectionLost, isTransient } from './postgres-errors.ts'

/** What sessions are told: when a commit is done, and as what they act, where that is not who they log in as. */
export type SessionSettings = {
  readonly synchronousCommit: 'on' | 'remote_apply'
  readonly role: string | null
  /** Whether they only look, at a server that may be a standby as well. */
  readonly isReadOnly?: boolean
}

/** Connections that are lent out one at a time. */
export type PostgresPool = {
  readonly acquire: () => Promise<PooledConnection>
  readonly close: () => Promise<void>
}

/** A connection for as long as somebody has it: given back, or thrown away when it is of no more use. */
export type PooledConnection = {
  readonly send: SendStatements
  readonly release: () => void
  readonly destroy: () => void
}

/** How long a request waits for a connection, a statement for a lock and for its end, a transaction for its next statement. */
const connectTimeoutMs = 5_000
const lockTimeoutMs = 10_000
const statementTimeoutMs = 30_000
const idleTimeoutMs = 15_000

/** Every database of ours has the same tables, so what is known of a query holds in all. */
const describedStatements: DescribedStatements = statementCache(maxPreparedProjections)

/**
 * A pool of connections to the server that takes writes; they are opened when needed, and anew when the server was away or
 * another has taken its place.
 */
export function postgresPool(
  primary: PrimaryServer,
  sizes: PoolSizes,
  { synchronousCommit, role, isReadOnly = false }: SessionSettings,
): PostgresPool {
  const connections = new WeakMap<Client, PostgresConnection>()
  const settings = [
    'timezone=UTC',
    'datestyle=ISO',
    // Whatever the server, the database or the user says: with `off` a crash loses what was acknowledged.
    `synchronous_commit=${synchronousCommit}`,
    // Every query finds its rows by a merchant's key, whatever the values: planning it anew each time is for nothing.
    'plan_cache_mode=force_generic_plan',
    // And a plan is kept: one of when a table had a page would read all of it ever after, once for each row that refers to it.
    'enable_seqscan=off',
    ...(role === null ? [] : [`role=${role}`]),
    ...(isReadOnly ? ['default_transaction_read_only=on'] : []),
  ]
  const pool = new pg.Pool({
    Client: primary.Client,
    ...(!isReadOnly && { onConnect: (client) => requirePrimary(client) }),
    max: sizes.connections,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    lock_timeout: lockTimeoutMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleTimeoutMs,
    options: settings.map((setting) => `-c ${setting}`).join(' '),
  })
  // A connection that breaks while nobody has it is replaced when one is needed.
  pool.on('error', () => {})

  async function connect() {
    if (pool.waitingCount >= sizes.queue) throw unavailable('Too many requests are waiting for the database.')
    const before = primary.currentIndex()
    try {
      return await primary.probeWhileWaiting(pool.connect())
    } catch (error) {
      if (!isUnreachable(error)) throw error
      await primary.find().catch(() => {})
      if (primary.currentIndex() === before) throw databaseUnreachable(error)
      return await pool.connect().catch((failure) => {
        throw isUnreachable(failure) ? databaseUnreachable(failure) : failure
      })
    }
  }

  return {
    acquire: async () => {
      const client = await connect()
      // Whoever has it learns of a break from what it runs.
      const ignore = () => {}
      client.on('error', ignore)
      const connection = connections.get(client) ?? postgresConnection(client, describedStatements)
      connections.set(client, connection)
      connection.resetScope()
      const release = (isBroken: boolean) => {
        client.off('error', ignore)
        client.release(isBroken)
      }
      const send: SendStatements = (items, options) => primary.probeWhileWaiting(connection.send(items, options))
      return { send, release: () => release(false), destroy: () => release(true) }
    },
    close: () => pool.end(),
  }
}

function isUnreachable(error: unknown): boolean {
  return isConnectionLost(error) || isTransient(error) || /timeout/.test((error as Error).message)
}

function databaseUnreachable(cause: unknown): Error {
  return Object.assign(unavailable('The database can not be reached.'), { cause })
}
