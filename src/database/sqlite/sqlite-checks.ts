import Sqlite from 'better-sqlite3'
import type { Migration, SchemaCheck, SchemaObject } from '../migration.ts'
import { compareSchemas } from '../migration.ts'
import { migrateSqlite } from './migrate-sqlite.ts'
import { useMemory } from './sqlite-connection.ts'

export function findIntegrityErrors(raw: Sqlite.Database): string[] {
  try {
    useMemory(raw, 'scans')
    const pages = raw.pragma('integrity_check') as { integrity_check: string }[]
    const orphans = raw.pragma('foreign_key_check') as { table: string; rowid: number | null; parent: string }[]
    return [
      ...pages.map((row) => row.integrity_check).filter((text) => text !== 'ok'),
      ...orphans.map(({ table, rowid, parent }) => `${table} ${rowid ?? ''} refers to missing rows of ${parent}`),
    ]
  } catch (error) {
    return [(error as Error).message]
  } finally {
    useMemory(raw, 'requests')
  }
}

export function checkSchemaSqlite(raw: Sqlite.Database, migrations: readonly Migration[]): SchemaCheck {
  const expected = expectedSchemas.get(migrations) ?? buildExpectedSchema(migrations)
  expectedSchemas.set(migrations, expected)
  return compareSchemas(readSchemaObjects(raw), expected)
}

const expectedSchemas = new WeakMap<readonly Migration[], readonly SchemaObject[]>()

function buildExpectedSchema(migrations: readonly Migration[]): readonly SchemaObject[] {
  const database = new Sqlite(':memory:')
  try {
    migrateSqlite(database, migrations)
    return readSchemaObjects(database)
  } finally {
    database.close()
  }
}

type SchemaRow = { type: string; name: string; table: string; sql: string }
type ColumnRow = { table: string; name: string; definition: string }
type ForeignKeyRow = { table: string; target: string; definition: string }

function readSchemaObjects(raw: Sqlite.Database): SchemaObject[] {
  const rows = raw.prepare(objectsSql).all() as SchemaRow[]
  const objects = rows.map(({ type, name, table, sql }) => ({
    kind: type,
    name,
    table: type === 'table' || type === 'view' ? null : table,
    definition: normalizeWhitespace(sql),
    isHarmless: type === 'table' || type === 'view' || (type === 'index' && isPlainIndex(raw, { table, name })),
  }))
  const columns = (raw.prepare(columnsSql).all() as ColumnRow[]).map((column) => ({
    ...column,
    kind: 'column',
    isHarmless: false,
  }))
  const keys = (raw.prepare(foreignKeysSql).all() as ForeignKeyRow[]).map((key) => ({
    ...{ ...key, kind: 'foreign key', name: `to ${key.target} (${key.definition})` },
    isHarmless: false,
  }))
  return [...objects, ...columns, ...keys]
}

const isOwnNameSql = `not like 'sqlite\\_%' escape '\\'`

const objectsSql = `select type, name, tbl_name as "table", sql from sqlite_schema where name ${isOwnNameSql}`

const columnsSql = `select s.name as "table", c.name,
    c.type || case when c."notnull" then ' not null' else '' end || coalesce(' default ' || c.dflt_value, '')
      || case c.hidden when 0 then '' else ' generated' end as definition
  from sqlite_schema s join pragma_table_xinfo(s.name) c where s.type = 'table' and s.name ${isOwnNameSql}`

const foreignKeysSql = `select s.name as "table", k."table" as target,
    group_concat(k."from" || ' to ' || coalesce(k."to", 'key'), ', ' order by k.seq) || ' on delete ' || k.on_delete as definition
  from sqlite_schema s join pragma_foreign_key_list(s.name) k where s.type = 'table' and s.name ${isOwnNameSql} group by s.name, k.id`

function isPlainIndex(raw: Sqlite.Database, { table, name }: { table: string; name: string }): boolean {
  return (
    raw
      .prepare(
        `select 1 from pragma_index_list(?) where name = ? and not "unique" and not partial
          and not exists (select 1 from pragma_index_xinfo(?) where cid = -2)`,
      )
      .get(table, name, name) !== undefined
  )
}

/** SQLite stores the SQL text of a table definition with the original whitespace. */
function normalizeWhitespace(sql: string): string {
  return sql.replace(/('[^']*'|"[^"]*")|\s+/g, (_, quoted?: string) => quoted ?? ' ')
}
