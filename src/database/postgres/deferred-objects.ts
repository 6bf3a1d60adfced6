import type pg from 'pg'
import type { OnProgress } from '../database.ts'
import { fenceName } from './write-fence.ts'

type DeferredObject = { readonly name: string; readonly dropSql: string; readonly createSql: string }

/**
 * Drops foreign keys and secondary indexes. Creating indexes after all rows are inserted is several times faster. The
 * definitions are stored in the SQL comment of the write fence's function, so that an interrupted copy can still create
 * the objects. The write fence must already exist.
 */
export async function dropDeferredObjects(client: pg.Client): Promise<void> {
  const { rows } = await client.query<DeferredObject>(deferredObjectsSql)
  const stored = await readDeferredObjects(client)
  const dropped = rows.filter(({ name }) => !stored.some((each) => each.name === name))
  const comment = client.escapeLiteral(JSON.stringify([...stored, ...dropped]))
  await client.query(`comment on function ${fenceName}() is ${comment}`)
  for (const { dropSql } of rows.toReversed()) await client.query(dropSql)
}

export async function createDeferredObjects(client: pg.Client, onProgress: OnProgress): Promise<void> {
  const stored = await readDeferredObjects(client)
  const { rows: existing } = await client.query<DeferredObject>(deferredObjectsSql)
  for (const [done, { name, createSql }] of stored.entries()) {
    onProgress('indexes and foreign keys', done, stored.length)
    if (!existing.some((each) => each.name === name)) await client.query(createSql)
  }
  if (stored.length > 0) onProgress('indexes and foreign keys', stored.length, stored.length)
}

async function readDeferredObjects(client: pg.Client): Promise<readonly DeferredObject[]> {
  const { rows } = await client.query(`select obj_description(to_regproc('${fenceName}')) as comment`)
  return JSON.parse(rows[0].comment ?? '[]')
}

/** Foreign keys are created last, because they may refer to unique indexes. */
const deferredObjectsSql = `select name, "dropSql", "createSql" from (
    select 1 as place, i.relname as name, format('drop index %I', i.relname) as "dropSql",
        pg_get_indexdef(indexrelid) as "createSql"
      from pg_index join pg_class i on i.oid = indexrelid
      where i.relnamespace = current_schema()::regnamespace and i.relkind = 'i'
        and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
    union all
    select 2, format('%s.%I', conrelid::regclass, conname), format('alter table %s drop constraint %I', conrelid::regclass, conname),
        format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
      from pg_constraint where contype = 'f' and conparentid = 0 and connamespace = current_schema()::regnamespace
  ) as deferred order by place, name`
