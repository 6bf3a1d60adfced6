import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import type { RestoreOptions, RestoreResult } from '../database.ts'
import { requireToolVersion, runTool, withConnectionString } from './client-tools.ts'
import type { ServerTarget } from './connection-url.ts'
import { parseConnectionUrl } from './connection-url.ts'
import { followPrimary } from './failover.ts'
import { grantToServiceRole } from './row-security.ts'

/**
 * Restores a dump into an empty database, in one transaction. The login role becomes the owner of all objects. If
 * `inspect` throws, all objects are dropped.
 *
 * @throws Error like `restoreDatabase`
 */
export async function restorePostgres({ url, backup, canReplace, inspect }: RestoreOptions): Promise<RestoreResult> {
  if (canReplace) throw new Error(`--replace is for SQLite. ${emptyDatabaseAdvice}`)
  await requireDumpFile(backup)
  const { servers } = parseConnectionUrl(url)
  const primary = followPrimary(servers)
  await primary.find()
  const server = servers[primary.currentIndex()] as ServerTarget
  const client = primary.createClient({})
  client.on('error', () => {})
  await client.connect()
  try {
    await requireEmptyDatabase(client, server.name)
    const { rows } = await client.query(`select current_setting('server_version_num')::int as number`)
    await requireToolVersion('pg_restore', rows[0].number)
    await restoreInto(server, backup)
    try {
      await grantToServiceRole(client)
      // A dump contains no planner statistics, which a large audit needs.
      await client.query('analyze')
      await inspect(url)
    } catch (error) {
      await client.query(dropAllSql).catch((failure: Error) => {
        const { message } = error as Error
        throw new Error(`${message} It could not be removed again (${failure.message}): drop ${server.name}.`)
      })
      throw error
    }
    return { file: server.name, kept: null }
  } finally {
    await client.end().catch(() => {})
  }
}

const emptyDatabaseAdvice =
  'A PostgreSQL backup is restored into an empty database: create one (createdb), and set DATABASE_URL to it.'

async function requireDumpFile(backup: string): Promise<void> {
  const file = await open(backup).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`The file ${backup} does not exist.`) : error
  })
  try {
    const { buffer } = await file.read(Buffer.alloc(5), 0, 5, 0)
    if (buffer.toString('latin1') === 'PGDMP') return
    throw new Error(`${backup} is not a backup of a PostgreSQL database (pg_dump --format=custom).`)
  } finally {
    await file.close()
  }
}

const ownRelationsSql = `select c.oid::regclass as name, relkind from pg_class c
  where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S', 'f') and not exists
    (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')`

async function requireEmptyDatabase(client: pg.Client, name: string): Promise<void> {
  const relation = await findOwnRelation(client)
  if (relation !== null) throw new Error(`${name} is not empty: it has ${relation}. ${emptyDatabaseAdvice}`)
}

/** Ignores relations of PostgreSQL and of extensions. */
export async function findOwnRelation(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query<{ name: string }>(`${ownRelationsSql} limit 1`)
  return rows[0]?.name ?? null
}

/** Drops all restored objects, so that no service can use a rejected backup. */
const dropAllSql = `do $$ declare made record; begin
    for made in ${ownRelationsSql} and relkind in ('r', 'p', 'v', 'm') loop
      execute format('drop %s if exists %s cascade',
        case made.relkind when 'v' then 'view' when 'm' then 'materialized view' else 'table' end, made.name);
    end loop;
    for made in select p.oid::regprocedure as name from pg_proc p where pronamespace = current_schema()::regnamespace and not exists
        (select from pg_depend where classid = 'pg_proc'::regclass and objid = p.oid and deptype = 'e')
    loop execute format('drop routine if exists %s cascade', made.name); end loop;
  end $$`

async function restoreInto(server: ServerTarget, backup: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
  try {
    const list = join(folder, 'list')
    writeFileSync(list, await listWithoutExtensions(backup))
    const options = ['--single-transaction', '--no-owner', '--no-privileges', '--no-password', `--use-list=${list}`]
    await withConnectionString(server, (connection) =>
      runTool('pg_restore', [...options, `--dbname=${connection}`, backup]),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The service needs no extension, and some extensions can be created only by a superuser. */
async function listWithoutExtensions(backup: string): Promise<string> {
  const parts: Buffer[] = []
  await runTool('pg_restore', ['--list', backup], (bytes) => void parts.push(bytes))
  const lines = Buffer.concat(parts).toString().split('\n')
  return lines.filter((line) => !/^\d+; \d+ \d+ (EXTENSION|COMMENT - EXTENSION) /.test(line)).join('\n')
}
