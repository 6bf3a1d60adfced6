import { sql } from 'kysely'
import type pg from 'pg'
import { migrations } from '../../../db/migrations/index.ts'
import type { Database, DatabaseOptions } from '../database.ts'
import { query } from '../query.ts'
import { backUpPostgres } from './backup-postgres.ts'
import { checkSchemaPostgres } from './check-schema-postgres.ts'
import type { ServerTarget } from './connection-url.ts'
import { parseConnectionUrl } from './connection-url.ts'
import type { PrimaryServer } from './failover.ts'
import { followPrimary } from './failover.ts'
import { migratePostgres } from './migrate-postgres.ts'
import { notifications } from './notifications.ts'
import type { SessionSettings } from './pool.ts'
import { postgresPool } from './pool.ts'
import { postgresReader } from './postgres-reader.ts'
import { postgresWriter } from './postgres-writer.ts'
import { findServiceRole } from './row-security.ts'
import { selfCheckPostgres } from './self-check-postgres.ts'

/** What the server must be like, and who is told of what else should be put right. */
type ServerRequirements = Required<Pick<DatabaseOptions, 'mustExist' | 'mustBeDurable' | 'onWarning'>> & {
  readonly beforeMigrating: NonNullable<DatabaseOptions['beforeMigrating']>
} & Pick<DatabaseOptions, 'onMigrating'>

/** How often it is looked which of several servers takes writes, where nothing else gives a reason to. */
const primaryCheckIntervalMs = 5_000

/**
 * Opens the PostgreSQL database at `url`, migrated to the latest form.
 *
 * Where the URL names several servers it follows the one that takes writes.
 *
 * @throws Error that names the server and the database when it can't be opened, or loses what it acknowledges where it
 *   `mustBeDurable`
 */
export async function openPostgres({
  url,
  onCommitted,
  onFatal,
  ...demands
}: ServerRequirements & Pick<DatabaseOptions, 'onCommitted' | 'onFatal'> & { url: string }): Promise<Database> {
  const { servers: places, sizes } = parseConnectionUrl(url)
  const primary = followPrimary(places)
  const pool = postgresPool(primary, sizes, await prepareDatabase({ primary, servers: places }, demands))
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
  // A server that was cut off from the others answers those who only read as if nothing had happened.
  const looking = places.length > 1 ? setInterval(findPrimary, primaryCheckIntervalMs).unref() : undefined

  return {
    execute: reader.execute,
    snapshot: reader.snapshot,
    write: (operation, options) => {
      const result = writer.write(operation, options)
      const ended = result.catch(() => {}).finally(() => running.delete(ended))
      running.add(ended)
      return result
    },
    // Operations of one merchant wait together, so whether there is room is only known when one is given.
    requireQueueSpace: () => {},
    onBeforeBatch: () => {},
    // Any number of processes write, and none holds what others wait for.
    takeOver: () => {},
    statistics: writer.statistics,
    // Each query sees what was committed before it.
    refresh: () => {},
    findPrimary,
    tableVersion: () => null,
    watch: commits.watch,
    selfCheck: () => selfCheckPostgres(primary.createClient({})),
    checkSchema: () => checkSchemaPostgres(primary.createClient({})),
    ping: async () => void (await selectAnyMigration(reader, {})),
    backup: (path) => backUp({ primary, servers: places }, path),
    close: async () => {
      clearInterval(looking)
      while (running.size > 0) await Promise.all(running)
      await commits.close()
      await pool.close()
    },
  }
}

type PrimaryAndServers = { readonly primary: PrimaryServer; readonly servers: readonly ServerTarget[] }

async function backUp({ primary, servers: places }: PrimaryAndServers, path: string): Promise<void> {
  await primary.find()
  await backUpPostgres(primary.createClient({}), places[primary.currentIndex()] as ServerTarget, path)
}

const selectAnyMigration = query(() => sql`select name from migrations limit 1` as never)

/** Migrates by a connection of its own, and finds out as what the others act and when they take a commit for done. */
async function prepareDatabase(
  servers: PrimaryAndServers,
  { mustExist, mustBeDurable, beforeMigrating, onMigrating, onWarning }: ServerRequirements,
): Promise<SessionSettings> {
  const { primary } = servers
  await primary.find().catch((error: Error) => {
    throw new Error(`The database can't be opened: ${error.message}`, { cause: error })
  })
  const client = primary.createClient({ connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const refuse = (message: string) => {
      throw new Error(`${message} MODE=live does not work with such a server.`)
    }
    await requireDurability(client, mustBeDurable ? refuse : onWarning)
    await migratePostgres(client, migrations, {
      mustExist,
      onMigrating,
      beforeMigrating: (coming) => beforeMigrating({ ...coming, backUp: (path) => backUp(servers, path) }),
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

/** What is acknowledged must be on disk; a server can be set otherwise, and only its operator can put that right. */
async function requireDurability(client: pg.Client, onLoss: (message: string) => void): Promise<void> {
  const { rows } = await client.query(
    `select string_agg(name || ' = off', ' and ' order by name) as faults from pg_settings
      where name in ('fsync', 'full_page_writes') and setting = 'off'`,
  )
  const faults = rows[0]?.faults
  if (faults) onLoss(`The PostgreSQL server has ${faults}: what is acknowledged can be lost when it crashes.`)
}

/**
 * When our sessions take a commit for done: when it is on the server's disk, and on that of each synchronous standby, if
 * there are any. A server that waits for more (`remote_apply`) goes on doing so; what waits for less is not left so.
 */
export async function readSynchronousCommit(client: pg.Client): Promise<SessionSettings['synchronousCommit']> {
  const { rows } = await client.query(`select current_setting('synchronous_commit') as value`)
  return rows[0]?.value === 'remote_apply' ? 'remote_apply' : 'on'
}
