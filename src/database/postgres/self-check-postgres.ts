import type pg from 'pg'
import type { SelfCheck } from '../database.ts'
import { fullScanSettings } from './postgres-connection.ts'
import { sqlState } from './postgres-errors.ts'

/**
 * What PostgreSQL finds wrong with its own files: rows that an index lacks or has otherwise and pages that contradict
 * themselves, by the extension amcheck, and rows that refer to nothing.
 *
 * The extension is made for the moment where it is not there; nothing is left of it. Where the role may not, that is said.
 *
 * @param client a connection of its own, which is opened and closed here
 */
export async function selfCheckPostgres(client: pg.Client): Promise<SelfCheck> {
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('begin')
    await client.query(`select set_config('app.every_merchant', 'on', true), ${fullScanSettings}`)
    const faults = await findOrphans(client)
    const failure = await tryStatement(client, 'create extension if not exists amcheck')
    if (failure !== null) return { errors: faults, unchecked: amcheckUnavailable(failure) }
    const damage = await findDamage(client)
    return { errors: [...faults, ...damage.errors], unchecked: damage.unchecked }
  } finally {
    await client.query('rollback').catch(() => {})
    await client.end().catch(() => {})
  }
}

function amcheckUnavailable({ message }: CheckFailure): string {
  return `indexes and pages, for want of the extension amcheck: ${message}`
}

/** `isRefused` where the role may not use amcheck, or an old one lacks it: nothing is known of what it would have found. */
type CheckFailure = { readonly message: string; readonly isUnavailable: boolean }

/** Why a statement can't be run, or what it found; `null` for neither. The transaction goes on either way. */
async function tryStatement(client: pg.Client, text: string): Promise<CheckFailure | null> {
  await client.query('savepoint attempt')
  try {
    const { rows } = await client.query<{ fault?: string }>(text)
    await client.query('release savepoint attempt')
    const message = rows.map(({ fault }) => fault).find((fault) => typeof fault === 'string')
    return message === undefined ? null : { message, isUnavailable: false }
  } catch (error) {
    await client.query('rollback to savepoint attempt')
    return { message: (error as Error).message, isUnavailable: ['42501', '42883'].includes(sqlState(error) ?? '') }
  }
}

/** Foreign keys whose rows refer to nothing. */
async function findOrphans(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ fault: string; child: string; parent: string; columns: [string, string][] }>(`
    select conrelid::regclass || ' refers to ' || confrelid::regclass || ' that are not there' as fault,
      conrelid::regclass::text as child, confrelid::regclass::text as parent,
      (select json_agg(json_build_array(quote_ident(c.attname), quote_ident(p.attname))) from unnest(conkey, confkey) as k(c, p)
        join pg_attribute c on c.attrelid = conrelid and c.attnum = k.c
        join pg_attribute p on p.attrelid = confrelid and p.attnum = k.p) as columns
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace order by conname`)
  const faults: string[] = []
  for (const { fault, child, parent, columns } of rows) {
    const isGiven = columns.map(([column]) => `c.${column} is not null`).join(' and ')
    const isSame = columns.map(([column, target]) => `c.${column} = p.${target}`).join(' and ')
    const found = await client.query(
      `select 1 from ${child} c where ${isGiven} and not exists (select from ${parent} p where ${isSame}) limit 1`,
    )
    if (found.rows.length > 0) faults.push(fault)
  }
  return faults
}

/** What amcheck finds: every row of a table must be in its indexes as it is in the table. */
async function findDamage(client: pg.Client): Promise<SelfCheck> {
  // One that was there before may be in a schema of its own.
  await client.query(`select set_config('search_path', concat_ws(', ', nullif(current_setting('search_path'), ''),
    quote_ident(nspname)), true) from pg_extension join pg_namespace n on n.oid = extnamespace where extname = 'amcheck'`)
  const { rows } = await client.query<{ name: string; question: string }>(`
    select c.oid::regclass::text as name, case when c.relkind = 'i'
      then format('select bt_index_check(%s::regclass, true)', quote_literal(c.oid::regclass))
      else format('select msg as fault from verify_heapam(%s::regclass) limit 1', quote_literal(c.oid::regclass)) end as question
    from pg_class c left join pg_index i on i.indexrelid = c.oid left join pg_am a on a.oid = c.relam
    where c.relnamespace = current_schema()::regnamespace
      and (c.relkind = 'r' or (c.relkind = 'i' and a.amname = 'btree' and i.indisvalid)) order by 1`)
  const faults: string[] = []
  let unchecked: string | null = null
  for (const { name, question } of rows) {
    const failure = await tryStatement(client, question)
    if (failure?.isUnavailable) unchecked ??= amcheckUnavailable(failure)
    else if (failure !== null) faults.push(`${name}: ${failure.message}`)
  }
  return { errors: faults, unchecked }
}
