import type { Client } from 'pg'
import pg from 'pg'
import { unavailable } from '../../core/errors.ts'
import { statementCache } from '../query-caches.ts'
import type { PoolSizes } from './connection-url.ts'
import type { PrimaryServer } from './failover.ts'
import { requirePrimary } from './failover.ts'
import type { DescribedStatements, PostgresConnection, SendStatements } from './postgres-connection.ts'
import { maxPreparedProjections, postgresConnection } from './postgres-connection.ts'
import { isConnectionLost, isTransient } from './postgres-errors.ts'

export type SessionSettings = {
  readonly synchronousCommit: 'on' | 'remote_apply'
  readonly role: string | null
  /** An inspection may connect to a standby, so the pool of an inspection is read-only. */
  readonly isReadOnly?: boolean
}

export type PostgresPool = {
  readonly acquire: () => Promise<PooledConnection>
  readonly close: () => Promise<void>
}

/** `destroy` closes the connection. `release` returns the connection to the pool. */
export type PooledConnection = {
  readonly send: SendStatements
  readonly release: () => void
  readonly destroy: () => void
}

const connectTimeoutMs = 5_000
const lockTimeoutMs = 10_000
const statementTimeoutMs = 30_000
const idleInTransactionTimeoutMs = 15_000

const describedStatements: DescribedStatements = statementCache(maxPreparedProjections)

export function postgresPool(
  primary: PrimaryServer,
  sizes: PoolSizes,
  { synchronousCommit, role, isReadOnly = false }: SessionSettings,
): PostgresPool {
  const connections = new WeakMap<Client, PostgresConnection>()
  const settings = [
    'timezone=UTC',
    'datestyle=ISO',
    // The server's setting `synchronous_commit` may be `off`. With `synchronous_commit=off`, a crash would lose
    // acknowledged commits.
    `synchronous_commit=${synchronousCommit}`,
    // Rows are always found by the merchant's key, so a generic plan is as good as a plan for specific parameters.
    'plan_cache_mode=force_generic_plan',
    // A plan that was created while a table was small would still scan the whole table after the table has grown.
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
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    options: settings.map((setting) => `-c ${setting}`).join(' '),
  })
  pool.on('error', () => {})

  async function connect() {
    if (pool.waitingCount >= sizes.queue) throw unavailable('The queue for database connections is full.')
    const indexBefore = primary.currentIndex()
    try {
      return await primary.probeWhileWaiting(pool.connect())
    } catch (error) {
      if (!isUnreachable(error)) throw error
      await primary.find().catch(() => {})
      if (primary.currentIndex() === indexBefore) throw databaseUnreachable(error)
      return await pool.connect().catch((failure) => {
        throw isUnreachable(failure) ? databaseUnreachable(failure) : failure
      })
    }
  }

  return {
    acquire: async () => {
      const client = await connect()
      // If the connection breaks, the next statement on the connection fails, so the event is ignored.
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
  return Object.assign(unavailable('The database cannot be reached.'), { cause })
}
