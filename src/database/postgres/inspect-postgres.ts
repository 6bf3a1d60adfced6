import { sql } from 'kysely'
import type pg from 'pg'
import { migrations } from '../../../db/migrations/index.ts'
import type { EngineSetting, EngineState, InspectedDatabase } from '../database.ts'
import { missingDatabaseAdvice } from '../database.ts'
import { findPendingMigrations, findUnknownMigration } from '../migration.ts'
import { query } from '../query.ts'
import { checkSchemaPostgres } from './check-schema-postgres.ts'
import { parseConnectionUrl } from './connection-url.ts'
import { followPrimary, isStandbySql } from './failover.ts'
import { readSynchronousCommit } from './open-postgres.ts'
import type { SessionSettings } from './pool.ts'
import { postgresPool } from './pool.ts'
import type { PostgresReader } from './postgres-reader.ts'
import { postgresReader } from './postgres-reader.ts'
import { findServiceRole } from './row-security.ts'

/** The first that this is tried on. */
const minServerVersion = 150_000

/**
 * Connects to the PostgreSQL database at `url` only to look at it: whatever would change something is refused by the server.
 *
 * @throws Error that names the server and the database when it can't be reached, or has no tables of ours
 */
export async function inspectPostgres(url: string): Promise<InspectedDatabase> {
  const { servers: places, sizes } = parseConnectionUrl(url)
  const primary = followPrimary(places, isStandbySql)
  await primary.find()
  const client = primary.createClient({
    options: '-c default_transaction_read_only=on',
    connectionTimeoutMillis: 10_000,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { state, session } = await inspectServer(client, sizes.connections, places.length > 1)
    const pool = postgresPool(primary, sizes, { ...session, isReadOnly: true })
    const reader = postgresReader(pool)
    const settings = [...state.settings, await readCommitSetting(reader)]
    return {
      db: { execute: reader.execute },
      state: { ...state, settings },
      checkSchema: () => checkSchemaPostgres(primary.createClient({})),
      close: () => pool.close(),
    }
  } catch (error) {
    throw new Error(`${client.host}:${client.port}/${client.database} can't be opened: ${(error as Error).message}`, {
      cause: error,
    })
  } finally {
    await client.end().catch(() => {})
  }
}

async function inspectServer(
  client: pg.Client,
  connections: number,
  failsOver: boolean,
): Promise<{ state: EngineState; session: SessionSettings }> {
  const { rows: tables } = await client.query(`select to_regclass('migrations') as name`)
  if (tables[0]?.name === null) throw new Error(`it has no tables of this service; ${missingDatabaseAdvice}`)
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name')
  const applied = rows.map(({ name }) => name)
  const warnings: string[] = []
  const role = await findServiceRole(client, (message) => warnings.push(message))
  const server = await readServerInfo(client)
  const state = {
    version: `PostgreSQL ${server.server_version}`,
    settings: [
      ...serverSettings(server, connections),
      ...(await replicationSettings(client, failsOver)),
      { name: 'row-level security', value: warnings.length === 0 ? 'on' : 'bypassed', advice: warnings[0] ?? null },
    ],
    pendingMigrations: findPendingMigrations(migrations, applied)?.names ?? [],
    unknownMigration: findUnknownMigration(migrations, applied),
    clockSkewMs: server.ahead_ms,
  }
  return { state, session: { synchronousCommit: await readSynchronousCommit(client), role } }
}

type ServerInfo = Readonly<Record<'server_version' | 'fsync' | 'full_page_writes', string>> & {
  readonly number: number
  readonly max_connections: number
  readonly ahead_ms: number
}

async function readServerInfo(client: pg.Client): Promise<ServerInfo> {
  const asked = performance.timeOrigin + performance.now()
  const { rows } = await client.query(
    `select current_setting('server_version') as server_version, current_setting('server_version_num')::int as number,
      current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
      current_setting('max_connections')::int as max_connections,
      cast(extract(epoch from clock_timestamp()) * 1000 as float8) - $1::float8 as ahead_ms`,
    [asked],
  )
  return rows[0]
}

function serverSettings(server: ServerInfo, connections: number): EngineSetting[] {
  const loses = 'What is acknowledged can be lost when the server crashes, and MODE=live does not start: set it to on.'
  const tooFew = `Have it above WORKERS times pool (${connections}) of all services, and a few for operators.`
  return [
    {
      name: 'server_version',
      value: server.server_version,
      advice: server.number >= minServerVersion ? null : 'Take PostgreSQL 15 or later: no test runs on an older one.',
    },
    { name: 'fsync', value: server.fsync, advice: server.fsync === 'off' ? loses : null },
    {
      name: 'full_page_writes',
      value: server.full_page_writes,
      advice: server.full_page_writes === 'off' ? loses : null,
    },
    {
      name: 'max_connections',
      value: String(server.max_connections),
      advice: server.max_connections > connections ? null : tooFew,
    },
  ]
}

/**
 * Whether what is acknowledged is on another server as well; nothing where there is no other.
 *
 * @param failsOver whether the service would go on with another: then what only the first had is lost
 */
async function replicationSettings(client: pg.Client, failsOver: boolean): Promise<EngineSetting[]> {
  // Who they are is shown to some users only, how many there are to all.
  const { rows } = await client.query<{ names: string; standbys: number; synchronous: number; mayKnow: boolean }>(
    `select current_setting('synchronous_standby_names') as names, count(*)::int as standbys,
      count(*) filter (where sync_state in ('sync', 'quorum'))::int as synchronous,
      pg_has_role('pg_monitor', 'usage') as "mayKnow" from pg_stat_replication`,
  )
  const [{ names, standbys, synchronous, mayKnow }] = rows as [(typeof rows)[number]]
  if (names === '' && standbys === 0 && !failsOver) return []
  const isAlone = names !== '' && (mayKnow ? synchronous === 0 : standbys === 0)
  if (isAlone) return [{ name: 'synchronous standbys', value: 'none', advice: noStandbyAdvice }]
  const value = names === '' ? `empty, with ${standbys} standbys` : names
  const name = failsOver ? 'synchronous_standby_names' : 'standbys'
  return [{ name, value, advice: names === '' ? (failsOver ? failoverLossAdvice : asyncStandbyAdvice) : null }]
}

const noStandbyAdvice =
  'No standby is connected that commits wait for, so nothing is stored: start one, or let Patroni choose (synchronous_mode).'
const asyncStandbyAdvice =
  'Should one of them ever take over, what is acknowledged can be lost: set synchronous_standby_names, or with Patroni synchronous_mode.'
const failoverLossAdvice =
  'A failover loses what is acknowledged and not replicated yet: have a standby, and synchronous_mode in Patroni, or set synchronous_standby_names.'

/** As a session of the service has it, whatever the server says. */
async function readCommitSetting(reader: PostgresReader): Promise<EngineSetting> {
  const [row] = (await selectSynchronousCommit(reader, {})) as readonly { readonly value?: string }[]
  const value = row?.value ?? 'unknown'
  const isSafe = value === 'on' || value === 'remote_apply'
  const advice = 'Something between this and the server takes no settings of a session: connect directly.'
  return { name: 'synchronous_commit', value, advice: isSafe ? null : advice }
}

const selectSynchronousCommit = query(() => sql`select current_setting('synchronous_commit') as value` as never)
