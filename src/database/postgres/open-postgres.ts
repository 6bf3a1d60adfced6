import { sql } from 'kysely'
import type pg from 'pg'
import { unavailable } from '../../core/errors.ts'
import { fencedMessage } from '../copy/copy-side.ts'
import type { Database, EngineOptions } from '../database.ts'
import type { Migration } from '../migration.ts'
import { query } from '../query.ts'
import { backUpPostgres } from './backup-postgres.ts'
import type { ServerTarget } from './connection-url.ts'
import { parseConnectionUrl } from './connection-url.ts'
import type { PrimaryServer } from './failover.ts'
import { followPrimary } from './failover.ts'
import { migratePostgres } from './migrate-postgres.ts'
import { notifications } from './notifications.ts'
import type { SessionSettings } from './pool.ts'
import { postgresPool } from './pool.ts'
import { checkSchemaPostgres, selfCheckPostgres } from './postgres-checks.ts'
import { postgresReader } from './postgres-reader.ts'
import { postgresWriter } from './postgres-writer.ts'
import { findServiceRole } from './row-security.ts'

const primaryCheckIntervalMs = 5_000

/**
 * Applies pending migrations. If the URL has several servers, follows the primary.
 *
 * @throws Error with the server and database, when the database cannot be opened, or when `mustBeDurable` is true and
 * the server's settings can lose acknowledged commits
 */
export async function openPostgres(
  url: string,
  migrations: readonly Migration[],
  { onCommitted, onFatal, ...options }: EngineOptions,
): Promise<Database> {
  const { servers, sizes } = parseConnectionUrl(url)
  const primary = followPrimary(servers)
  const pool = postgresPool(primary, sizes, await prepareDatabase({ primary, servers }, migrations, options))
  const reader = postgresReader(pool)
  const commits = notifications(primary)
  const writer = postgresWriter(pool, {
    connections: sizes.connections,
    notifyChange: commits.notify,
    onCommitted,
    onFatal,
  })
  const running = new Set<Promise<unknown>>()
  const findPrimary = () => primary.find().catch(() => {})
  // A former primary that is cut off from the other servers still serves reads.
  const primaryCheck = servers.length > 1 ? setInterval(findPrimary, primaryCheckIntervalMs).unref() : undefined

  return {
    execute: reader.execute,
    snapshot: reader.snapshot,
    write: (operation, options) => {
      const result = writer.write(operation, options)
      const ended = result.catch(() => {}).finally(() => running.delete(ended))
      running.add(ended)
      return result
    },
    // `requireQueueSpace` does not know the merchant, and each merchant has a separate write queue.
    requireQueueSpace: () => {},
    onBeforeBatch: () => {},
    // Any number of processes may write to PostgreSQL.
    takeOver: () => {},
    statistics: writer.statistics,
    // A query on PostgreSQL sees all earlier commits.
    refresh: () => {},
    findPrimary,
    tableVersion: () => null,
    watch: commits.watch,
    selfCheck: () => selfCheckPostgres(primary.createClient({})),
    checkSchema: () => checkSchemaPostgres(primary.createClient({}), migrations),
    ping: async () => {
      const [fenced] = (await selectFence(reader, {})) as readonly { readonly isFenced: bigint }[]
      if (fenced?.isFenced) throw unavailable(fencedMessage)
    },
    backup: (path) => backUp({ primary, servers }, path),
    close: async () => {
      clearInterval(primaryCheck)
      while (running.size > 0) await Promise.all(running)
      await commits.close()
      await pool.close()
    },
  }
}

type PrimaryAndServers = { readonly primary: PrimaryServer; readonly servers: readonly ServerTarget[] }

async function backUp({ primary, servers }: PrimaryAndServers, path: string): Promise<void> {
  await primary.find()
  await backUpPostgres(primary.createClient({}), servers[primary.currentIndex()] as ServerTarget, path)
}

const selectFence = query(
  () =>
    sql`select name, exists (select from database_copies where role = 'source' or completed_at is null) as is_fenced
      from migrations limit 1` as never,
)

async function prepareDatabase(
  { primary, servers }: PrimaryAndServers,
  migrations: readonly Migration[],
  {
    mustExist = false,
    mustBeDurable = false,
    beforeMigrating = () => {},
    onMigrating,
    onWarning = () => {},
  }: Omit<EngineOptions, 'onFatal'>,
): Promise<SessionSettings> {
  await primary.find().catch((error: Error) => {
    throw new Error(`The database can't be opened: ${error.message}`, { cause: error })
  })
  const client = primary.createClient({ connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const reject = (message: string) => {
      throw new Error(`${message} MODE=live does not work with such a server.`)
    }
    await requireDurability(client, mustBeDurable ? reject : onWarning)
    await migratePostgres(client, migrations, {
      mustExist,
      onMigrating,
      beforeMigrating: (pending) =>
        beforeMigrating({ ...pending, backUp: (path) => backUp({ primary, servers }, path) }),
    })
    const synchronousCommit = await readSynchronousCommit(client)
    return { synchronousCommit, role: await findServiceRole(client, onWarning) }
  } catch (error) {
    throw new Error(`${client.host}:${client.port}/${client.database} can't be opened: ${(error as Error).message}`, {
      cause: error,
    })
  } finally {
    await client.end().catch(() => {})
  }
}

/** Only an operator of the server can change unsafe durability settings. */
async function requireDurability(client: pg.Client, onUnsafe: (message: string) => void): Promise<void> {
  const { rows } = await client.query(
    `select string_agg(name || ' = off', ' and ' order by name) as settings from pg_settings
      where name in ('fsync', 'full_page_writes') and setting = 'off'`,
  )
  const settings = rows[0]?.settings
  if (settings) onUnsafe(`The PostgreSQL server has ${settings}: a crash can lose acknowledged commits.`)
}

/**
 * Commits must wait for the disk of the server and of each synchronous standby. `remote_apply` is kept, because
 * `remote_apply` is stricter than `on`.
 */
export async function readSynchronousCommit(client: pg.Client): Promise<SessionSettings['synchronousCommit']> {
  const { rows } = await client.query(`select current_setting('synchronous_commit') as value`)
  return rows[0]?.value === 'remote_apply' ? 'remote_apply' : 'on'
}
