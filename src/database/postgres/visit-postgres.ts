import { sql } from 'kysely'
import pg from 'pg'
import { migrations } from '../../../db/migrations/index.ts'
import type { EngineSetting, EngineState, Visit } from '../database.ts'
import { howToMakeOne } from '../database.ts'
import { comingMigrations, unknownMigration } from '../migration.ts'
import { query } from '../query.ts'
import { readUrl, synchronousCommitOf } from './open-postgres.ts'
import type { SessionSettings } from './pool.ts'
import { postgresPool } from './pool.ts'
import type { PostgresReader } from './postgres-reader.ts'
import { postgresReader } from './postgres-reader.ts'
import { roleToTake } from './row-security.ts'

/** The first that this is tried on. */
const oldestVersion = 150_000

/**
 * Connects to the PostgreSQL database at `url` only to look at it: whatever would change something is refused by the server.
 *
 * @throws Error that names the server and the database when it can't be reached, or has no tables of ours
 */
export async function visitPostgres(url: string): Promise<Visit> {
  const { config: asked, sizes } = readUrl(url)
  const config = { ...asked, options: '-c default_transaction_read_only=on' }
  const client = new pg.Client({ ...config, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const { state, session } = await lookThrough(client, sizes.connections)
    const pool = postgresPool(config, sizes, session)
    const reader = postgresReader(pool)
    const settings = [...state.settings, await commitSetting(reader)]
    return { db: { execute: reader.execute }, state: { ...state, settings }, close: () => pool.close() }
  } catch (error) {
    throw new Error(`${client.host}:${client.port}/${client.database} can't be opened: ${(error as Error).message}`, {
      cause: error,
    })
  } finally {
    await client.end().catch(() => {})
  }
}

async function lookThrough(
  client: pg.Client,
  connections: number,
): Promise<{ state: EngineState; session: SessionSettings }> {
  const { rows: tables } = await client.query(`select to_regclass('migrations') as name`)
  if (tables[0]?.name === null) throw new Error(`it has no tables of this service; ${howToMakeOne}`)
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name')
  const applied = rows.map(({ name }) => name)
  const warnings: string[] = []
  const role = await roleToTake(client, (message) => warnings.push(message))
  const server = await serverOf(client)
  const state = {
    version: `PostgreSQL ${server.server_version}`,
    settings: [
      ...serverSettings(server, connections),
      { name: 'row-level security', value: warnings.length === 0 ? 'on' : 'bypassed', advice: warnings[0] ?? null },
    ],
    coming: comingMigrations(migrations, applied)?.names ?? [],
    unknown: unknownMigration(migrations, applied),
    aheadMs: server.ahead_ms,
  }
  return { state, session: { synchronousCommit: await synchronousCommitOf(client), role } }
}

type Server = Readonly<Record<'server_version' | 'fsync' | 'full_page_writes', string>> & {
  readonly number: number
  readonly max_connections: number
  readonly ahead_ms: number
}

async function serverOf(client: pg.Client): Promise<Server> {
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

function serverSettings(server: Server, connections: number): EngineSetting[] {
  const loses = 'What is acknowledged can be lost when the server crashes, and MODE=live does not start: set it to on.'
  const tooFew = `Have it above WORKERS times pool (${connections}) of all services, and a few for operators.`
  return [
    {
      name: 'server_version',
      value: server.server_version,
      advice: server.number >= oldestVersion ? null : 'Take PostgreSQL 15 or later: no test runs on an older one.',
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

/** As a session of the service has it, whatever the server says. */
async function commitSetting(reader: PostgresReader): Promise<EngineSetting> {
  const [row] = (await currentCommit(reader, {})) as readonly { readonly value?: string }[]
  const value = row?.value ?? 'unknown'
  const isSafe = value === 'on' || value === 'remote_apply'
  const advice = 'Something between this and the server takes no settings of a session: connect directly.'
  return { name: 'synchronous_commit', value, advice: isSafe ? null : advice }
}

const currentCommit = query(() => sql`select current_setting('synchronous_commit') as value` as never)
