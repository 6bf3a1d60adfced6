import { sql } from 'kysely'
import type pg from 'pg'
import type { EngineSetting, EngineState, InspectedDatabase } from '../database.ts'
import { missingDatabaseAdvice } from '../database.ts'
import type { Migration } from '../migration.ts'
import { findPendingMigrations, findUnknownMigration } from '../migration.ts'
import { query } from '../query.ts'
import { parseConnectionUrl } from './connection-url.ts'
import { followPrimary, isStandbySql } from './failover.ts'
import { readSynchronousCommit } from './open-postgres.ts'
import type { SessionSettings } from './pool.ts'
import { postgresPool } from './pool.ts'
import { checkSchemaPostgres } from './postgres-checks.ts'
import type { PostgresReader } from './postgres-reader.ts'
import { postgresReader } from './postgres-reader.ts'
import { findServiceRole } from './row-security.ts'

const minServerVersion = 150_000

/**
 * The sessions are read-only.
 *
 * @throws Error when the database cannot be reached or has no tables of this service
 */
export async function inspectPostgres(url: string, migrations: readonly Migration[]): Promise<InspectedDatabase> {
  const { servers, sizes } = parseConnectionUrl(url)
  const primary = followPrimary(servers, isStandbySql)
  await primary.find()
  const client = primary.createClient({
    options: '-c default_transaction_read_only=on',
    connectionTimeoutMillis: 10_000,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { state, session } = await inspectServer(client, migrations, {
      connections: sizes.connections,
      failsOver: servers.length > 1,
    })
    const pool = postgresPool(primary, sizes, { ...session, isReadOnly: true })
    const reader = postgresReader(pool)
    const settings = [...state.settings, await readCommitSetting(reader)]
    return {
      db: { execute: reader.execute },
      state: { ...state, settings },
      checkSchema: () => checkSchemaPostgres(primary.createClient({}), migrations),
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
  migrations: readonly Migration[],
  { connections, failsOver }: { readonly connections: number; readonly failsOver: boolean },
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
  const nowMs = performance.timeOrigin + performance.now()
  const { rows } = await client.query(
    `select current_setting('server_version') as server_version, current_setting('server_version_num')::int as number,
      current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
      current_setting('max_connections')::int as max_connections,
      cast(extract(epoch from clock_timestamp()) * 1000 as float8) - $1::float8 as ahead_ms`,
    [nowMs],
  )
  return rows[0]
}

function serverSettings(server: ServerInfo, connections: number): EngineSetting[] {
  const unsafe = 'A crash of the server can lose acknowledged commits, and MODE=live does not start: set it to on.'
  const tooFew = `Set it above WORKERS times pool (${connections}) of all services, plus a few for operators.`
  return [
    {
      name: 'server_version',
      value: server.server_version,
      advice: server.number >= minServerVersion ? null : 'Use PostgreSQL 15 or later: older versions are not tested.',
    },
    { name: 'fsync', value: server.fsync, advice: server.fsync === 'off' ? unsafe : null },
    {
      name: 'full_page_writes',
      value: server.full_page_writes,
      advice: server.full_page_writes === 'off' ? unsafe : null,
    },
    {
      name: 'max_connections',
      value: String(server.max_connections),
      advice: server.max_connections > connections ? null : tooFew,
    },
  ]
}

async function replicationSettings(client: pg.Client, failsOver: boolean): Promise<EngineSetting[]> {
  // Only members of `pg_monitor` can see which standbys are synchronous.
  const { rows } = await client.query<{ names: string; standbys: number; synchronous: number; canMonitor: boolean }>(
    `select current_setting('synchronous_standby_names') as names, count(*)::int as standbys,
      count(*) filter (where sync_state in ('sync', 'quorum'))::int as synchronous,
      pg_has_role('pg_monitor', 'usage') as "canMonitor" from pg_stat_replication`,
  )
  const [{ names, standbys, synchronous, canMonitor }] = rows as [(typeof rows)[number]]
  if (names === '' && standbys === 0 && !failsOver) return []
  const hasNoStandby = names !== '' && (canMonitor ? synchronous === 0 : standbys === 0)
  if (hasNoStandby) return [{ name: 'synchronous standbys', value: 'none', advice: noStandbyAdvice }]
  const value = names === '' ? `empty, with ${standbys} standbys` : names
  const name = failsOver ? 'synchronous_standby_names' : 'standbys'
  return [{ name, value, advice: names === '' ? (failsOver ? failoverLossAdvice : asyncStandbyAdvice) : null }]
}

const noStandbyAdvice =
  'Commits wait for a synchronous standby, and none is connected, so nothing is stored: start one, or let Patroni choose (synchronous_mode).'
const asyncStandbyAdvice =
  'A failover to one of them can lose acknowledged commits: set synchronous_standby_names, or synchronous_mode in Patroni.'
const failoverLossAdvice =
  'A failover loses acknowledged commits that are not replicated yet: run a standby, and set synchronous_mode in Patroni, or synchronous_standby_names.'

/** Reads the setting of a session in the pool, because a proxy may drop the session's settings. */
async function readCommitSetting(reader: PostgresReader): Promise<EngineSetting> {
  const [row] = (await selectSynchronousCommit(reader, {})) as readonly { readonly value?: string }[]
  const value = row?.value ?? 'unknown'
  const isSafe = value === 'on' || value === 'remote_apply'
  const advice = 'A proxy between this machine and the server drops the settings of sessions: connect directly.'
  return { name: 'synchronous_commit', value, advice: isSafe ? null : advice }
}

const selectSynchronousCommit = query(() => sql`select current_setting('synchronous_commit') as value` as never)
