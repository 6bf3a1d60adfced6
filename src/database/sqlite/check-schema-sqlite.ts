import Sqlite from 'better-sqlite3'
import { migrations } from '../../../db/migrations/index.ts'
import type { SchemaCheck, SchemaObject } from '../schema-check.ts'
import { compareSchemas } from '../schema-check.ts'
import { migrateSqlite } from './migrate-sqlite.ts'

/** Compares the schema of a file in the latest form with that which the migrations make in an empty one. */
export function checkSchemaSqlite(raw: Sqlite.Database): SchemaCheck {
  expectedSchema ??= buildExpectedSchema()
  return compareSchemas(readSchemaObjects(raw), expectedSchema)
}

let expectedSchema: readonly SchemaObject[] | undefined

function buildExpectedSchema(): readonly SchemaObject[] {
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

/** Everything of the file's schema but what SQLite itself keeps there. */
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

/** Whether an index only has columns of every row as they are: any other can reject a row, or compute something for each. */
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

/** A definition is kept as it was typed. */
function normalizeWhitespace(sql: string): string {
  return sql.replace(/('[^']*'|"[^"]*")|\s+/g, (_, quoted?: string) => quoted ?? ' ')
}
