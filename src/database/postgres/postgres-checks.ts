import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import type { SelfCheck } from '../database.ts'
import type { Migration, SchemaCheck, SchemaObject } from '../migration.ts'
import { compareSchemas } from '../migration.ts'
import { createSchema } from './migrate-postgres.ts'
import { fullScanSettings } from './postgres-connection.ts'
import { sqlState } from './postgres-errors.ts'
import { fenceName } from './write-fence.ts'

/**
 * Finds damaged pages and indexes that differ from their tables, with the extension amcheck. Finds rows that refer to
 * missing rows. If amcheck is missing, the check creates amcheck in a transaction that is rolled back.
 *
 * @param client a new client, which this function connects and closes
 */
export async function selfCheckPostgres(client: pg.Client): Promise<SelfCheck> {
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('begin')
    await client.query(`select set_config('app.every_merchant', 'on', true), ${fullScanSettings}`)
    const orphans = await findOrphans(client)
    const failure = await tryStatement(client, 'create extension if not exists amcheck')
    if (failure !== null) return { errors: orphans, unchecked: amcheckUnavailable(failure) }
    const damage = await findDamage(client)
    return { errors: [...orphans, ...damage.errors], unchecked: damage.unchecked }
  } finally {
    await client.query('rollback').catch(() => {})
    await client.end().catch(() => {})
  }
}

function amcheckUnavailable({ message }: CheckFailure): string {
  return `indexes and pages, because the extension amcheck is not available: ${message}`
}

type CheckFailure = { readonly message: string; readonly isUnavailable: boolean }

async function tryStatement(client: pg.Client, text: string): Promise<CheckFailure | null> {
  await client.query('savepoint attempt')
  try {
    const { rows } = await client.query<{ problem?: string }>(text)
    await client.query('release savepoint attempt')
    const message = rows.map(({ problem }) => problem).find((problem) => typeof problem === 'string')
    return message === undefined ? null : { message, isUnavailable: false }
  } catch (error) {
    await client.query('rollback to savepoint attempt')
    return { message: (error as Error).message, isUnavailable: ['42501', '42883'].includes(sqlState(error) ?? '') }
  }
}

async function findOrphans(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ child: string; parent: string; columns: [string, string][] }>(`
    select conrelid::regclass::text as child, confrelid::regclass::text as parent,
      (select json_agg(json_build_array(quote_ident(c.attname), quote_ident(p.attname))) from unnest(conkey, confkey) as k(c, p)
        join pg_attribute c on c.attrelid = conrelid and c.attnum = k.c
        join pg_attribute p on p.attrelid = confrelid and p.attnum = k.p) as columns
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace order by conname`)
  const problems: string[] = []
  for (const { child, parent, columns } of rows) {
    const isNotNull = columns.map(([column]) => `c.${column} is not null`).join(' and ')
    const isSame = columns.map(([column, target]) => `c.${column} = p.${target}`).join(' and ')
    const orphans = await client.query(
      `select 1 from ${child} c where ${isNotNull} and not exists (select from ${parent} p where ${isSame}) limit 1`,
    )
    if (orphans.rows.length > 0) problems.push(`${child} refers to missing rows of ${parent}`)
  }
  return problems
}

async function findDamage(client: pg.Client): Promise<SelfCheck> {
  await client.query(`select set_config('search_path', concat_ws(', ', nullif(current_setting('search_path'), ''),
    quote_ident(nspname)), true) from pg_extension join pg_namespace n on n.oid = extnamespace where extname = 'amcheck'`)
  const { rows } = await client.query<{ name: string; check: string }>(`
    select c.oid::regclass::text as name, case when c.relkind = 'i'
      then format('select bt_index_check(%s::regclass, true)', quote_literal(c.oid::regclass))
      else format('select msg as problem from verify_heapam(%s::regclass) limit 1', quote_literal(c.oid::regclass)) end as "check"
    from pg_class c left join pg_index i on i.indexrelid = c.oid left join pg_am a on a.oid = c.relam
    where c.relnamespace = current_schema()::regnamespace
      and (c.relkind = 'r' or (c.relkind = 'i' and a.amname = 'btree' and i.indisvalid)) order by 1`)
  const errors: string[] = []
  let unchecked: string | null = null
  for (const { name, check } of rows) {
    const failure = await tryStatement(client, check)
    if (failure?.isUnavailable) unchecked ??= amcheckUnavailable(failure)
    else if (failure !== null) errors.push(`${name}: ${failure.message}`)
  }
  return { errors, unchecked }
}

/**
 * Compares the schema with the migrations, which must all be applied. Versions of PostgreSQL print definitions
 * differently, so the migrations run in a scratch schema of the same server and are rolled back. If the user may not
 * create a schema, or the server is a standby, the result has the reason in `unchecked`.
 *
 * @param client a new client, which this function connects and closes
 */
export async function checkSchemaPostgres(client: pg.Client, migrations: readonly Migration[]): Promise<SchemaCheck> {
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('begin read write')
    const { rows } = await client.query(
      `select current_schema() as schema, current_setting('server_version') as version`,
    )
    const { schema, version } = rows[0] as { schema: string; version: string }
    const expected = expectedSchemas.get(migrations)?.get(version) ?? (await buildExpectedSchema(client, migrations))
    expectedSchemas.set(migrations, new Map(expectedSchemas.get(migrations)).set(version, expected))
    return compareSchemas(await readSchemaObjects(client, schema), expected)
  } catch (error) {
    const unchecked = uncheckedReason(error)
    if (unchecked === null) throw error
    return { differences: [], notices: [], unchecked }
  } finally {
    await client.query('rollback').catch(() => {})
    await client.end().catch(() => {})
  }
}

const expectedSchemas = new WeakMap<readonly Migration[], ReadonlyMap<string, readonly SchemaObject[]>>()

async function buildExpectedSchema(
  client: pg.Client,
  migrations: readonly Migration[],
): Promise<readonly SchemaObject[]> {
  const scratch = `payout_gateway_${randomBytes(8).toString('hex')}`
  await client.query(`create schema ${scratch}`)
  await client.query(`set local search_path = ${scratch}`)
  await client.query(`set local app.every_merchant = 'on'`)
  await createSchema(client, migrations)
  return readSchemaObjects(client, scratch)
}

/** With `schema` in `search_path`, definitions omit the schema's name and can be compared. */
async function readSchemaObjects(client: pg.Client, schema: string): Promise<SchemaObject[]> {
  await client.query(`select set_config('search_path', quote_ident($1), true)`, [schema])
  const { rows } = await client.query<SchemaObject>(schemaObjectsSql)
  return rows
}

function uncheckedReason(error: unknown): string | null {
  const state = sqlState(error)
  if (state === '42501')
    return `the schema, because the user may not create a scratch schema to compare it with (grant create on database … to …): ${(error as Error).message}`
  return state === '25006' ? 'the schema, because a standby cannot create a scratch schema to compare it with' : null
}

const isOfExtensionSql = (catalogue: string, oid: string) =>
  `exists (select from pg_depend where classid = '${catalogue}'::regclass and objid = ${oid} and deptype = 'e')`

/**
 * All objects in the first schema of `search_path` that can affect how rows are stored, read or checked. A disabled
 * trigger, a disabled foreign key and an invalid index have a different definition than an active object.
 */
const schemaObjectsSql = `
  with relations as (
    select c.* from pg_class c where relnamespace = current_schema()::regnamespace and not ${isOfExtensionSql('pg_class', 'c.oid')}
  ), tables as (select * from relations where relkind in ('r', 'p', 'f', 'm')),
  objects (kind, name, "table", target, definition, "isHarmless") as (
    select 'table', relname::text, null, null, concat_ws(' ', relkind, relpersistence,
        case when exists (select from pg_inherits where inhparent = oid) then 'with tables that inherit from it' end), true
      from tables
    union all
    select 'row-level security', 'state', relname, null,
        case when relrowsecurity and relforcerowsecurity then 'forced' when relrowsecurity then 'enabled' else 'off' end, true
      from tables
    union all
    select 'column', attname, relname, null, concat_ws(' ', format_type(atttypid, atttypmod),
        case when attnotnull then 'not null' end, 'generated ' || nullif(attgenerated::text, ''), 'identity ' || nullif(attidentity::text, ''),
        'collate ' || nullif(attcollation, typcollation)::regcollation::text, 'default ' || pg_get_expr(adbin, adrelid, true)), false
      from pg_attribute join tables on attrelid = tables.oid join pg_type on pg_type.oid = atttypid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum where attnum > 0 and not attisdropped
    union all
    select 'index', i.relname, t.relname, null, concat_ws(' ', pg_get_indexdef(indexrelid, 0, true),
        case when not indisvalid or not indisready or not indislive then '(not valid)' end),
        not indisunique and indexprs is null and indpred is null
      from pg_index join tables t on indrelid = t.oid join pg_class i on i.oid = indexrelid
      where not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
    union all
    select 'constraint', conname, conrelid::regclass::text, nullif(confrelid, 0)::regclass::text,
        concat_ws(' ', pg_get_constraintdef(c.oid, true), case when exists
          (select from pg_trigger where tgconstraint = c.oid and tgenabled <> 'O') then '(switched off)' end), false
      from pg_constraint c where contype in ('p', 'u', 'x', 'c', 'f')
        and (conrelid in (select oid from tables) or confrelid in (select oid from tables))
    union all
    select 'trigger', tgname, relname, null,
        concat_ws(' ', pg_get_triggerdef(g.oid, true), case when tgenabled <> 'O' then '(switched off)' end), false
      from pg_trigger g join relations on tgrelid = relations.oid where not tgisinternal and tgname <> '${fenceName}'
    union all
    select 'rule', rulename, relname, null, pg_get_ruledef(w.oid, true) || ev_enabled::text, false
      from pg_rewrite w join relations on ev_class = relations.oid where rulename <> '_RETURN'
    union all
    select 'policy', polname, relname, null, concat_ws(' ', case when polpermissive then 'permissive' else 'restrictive' end, polcmd,
        'to', (select string_agg(case role when 0 then 'public' else role::regrole::text end, ', ') from unnest(polroles) role),
        'using ' || pg_get_expr(polqual, polrelid, true), 'check ' || pg_get_expr(polwithcheck, polrelid, true)), false
      from pg_policy join tables on polrelid = tables.oid
    union all
    select 'view', relname::text, null, null, concat_ws(' ', pg_get_viewdef(oid, true), array_to_string(reloptions, ' ')), true
      from relations where relkind = 'v'
    union all
    select 'function', proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', null, null, concat_ws(' ', lanname,
        format_type(prorettype, null), case when prosecdef then 'security definer' end, array_to_string(proconfig, ' '), prosrc), true
      from pg_proc p join pg_language l on l.oid = prolang
      where pronamespace = current_schema()::regnamespace and proname <> '${fenceName}'
        and not ${isOfExtensionSql('pg_proc', 'p.oid')}
  ) select * from objects order by kind, name, "table"`
