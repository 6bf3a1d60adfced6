import type Sqlite from 'better-sqlite3'
import type { CreateTableBuilder, RawBuilder } from 'kysely'
import { Kysely, SqliteDialect, sql } from 'kysely'
import type { OnProgress } from '../database.ts'
import type { Migration, MigrationDialect } from '../migration.ts'
import { findUnknownMigration, migrationsToApply } from '../migration.ts'
import { failToConnect } from '../query.ts'
import { camelCase } from '../tables.ts'

const kysely = new Kysely<never>({ dialect: new SqliteDialect({ database: failToConnect }) })

const dialect: MigrationDialect = {
  uuid: sql`text`,
  binaryText: sql`text`,
  timestamp: sql`text`,
  amount: sql`integer`,
  json: sql`text`,
  milliseconds: (timestamp) => sql`(unixepoch(${timestamp}) * 1000 + cast(substr(${timestamp}, 21, 3) as integer))`,
  rowAsJson: ({ plain, times, json }, replaced = {}) =>
    sql`json_object(${sql.join(
      [...plain, ...times, ...json].flatMap((column) => {
        const value = replaced[column] ?? sql.ref(column)
        return [sql.lit(camelCase(column)), json.includes(column) ? sql`json(${value})` : value]
      }),
    )})`,
  raw,
  table: (table) => withTableOptions(table, sql`strict`),
  clusteredTable: (table) => withTableOptions(table, sql`strict, without rowid`),
  referenceToText: (table, { name, column, target }) =>
    table.addForeignKeyConstraint(name, ['merchant_id', column] as never, target, ['merchant_id', 'id']),
  appendOnly: (table) => forbiddenVerbs.map((verb) => createForbiddingTrigger(table, verb, sql.raw(verb))),
  writeOnce: (table, { column, others }) => [
    createForbiddingTrigger(table, 'delete', sql`delete`),
    createForbiddingTrigger(table, 'update', sql`update of ${sql.join(others.map((other) => sql.ref(other)))}`),
    createForbiddingTrigger(table, 'second_update', sql`update`, sql`when old.${sql.ref(column)} is not null`),
  ],
  dropAppendOnly: (table) => forbiddenVerbs.map((verb) => raw(sql`drop trigger ${sql.ref(`${table}_no_${verb}`)}`)),
  view: (name, select) => raw(sql`create view ${sql.table(name)} as ${select}`),
  // Foreign keys refer to tables by name, so they refer to the new table after the new table is renamed.
  replaceTable: (table, { by }) => [
    raw(sql`drop table ${sql.table(table)}`),
    raw(sql`alter table ${sql.table(by)} rename to ${sql.table(table)}`),
    refuseIf(
      `${table} have rows that refer to missing rows`,
      sql`select 1 from pragma_foreign_key_check(${sql.lit(table)})`,
    ),
  ],
  refuseIf,
  setPlannerStatistics: (table, byIndex) => [
    raw(sql`analyze sqlite_schema`),
    ...Object.entries(byIndex).map(([index, rows]) => {
      const name = index === 'key' ? table : `${table}_${index}`
      const statistics = [largeTableRows, ...rows].join(' ')
      return raw(sql`insert into sqlite_stat1 (tbl, idx, stat) values (${table}, ${name}, ${statistics})`)
    }),
    raw(sql`analyze sqlite_schema`),
  ],
}

const largeTableRows = 10_000_000

const forbiddenVerbs = ['update', 'delete']

/**
 * Locks the file for writing first, so that processes that start simultaneously do not migrate twice. Turns foreign
 * keys off, because otherwise SQLite would search for references to each row of a dropped table without an index. The
 * pragma `foreign_keys` has no effect inside a transaction.
 *
 * @throws Error when a later version has migrated the file, or a migration finds rows that it cannot convert
 */
export function migrateSqlite(
  database: Sqlite.Database,
  migrations: readonly Migration[],
  onMigrating: OnProgress = () => {},
): void {
  const foreignKeys = database.pragma('foreign_keys', { simple: true })
  const migrate = database.transaction(() => {
    database.exec('create table if not exists migrations (name text primary key, applied_at text not null) strict')
    const applied = appliedMigrations(database)
    const unknown = findUnknownMigration(migrations, applied)
    if (unknown)
      throw new Error(`the database has migration ${unknown}, which this version does not know: use a later one`)
    const pending = migrationsToApply(migrations, applied)
    for (const [done, { name, statements }] of pending.entries()) {
      onMigrating(name, done, pending.length)
      for (const step of statements(kysely.schema, dialect)) {
        const { sql: text, parameters } = step.compile()
        const statement = database.prepare(text)
        if (step.refusal === undefined) statement.run(parameters)
        else if (statement.get(parameters) !== undefined) throw new Error(step.refusal)
      }
      database.prepare(`insert into migrations values (?, strftime('%Y-%m-%dT%H:%M:%fZ'))`).run(name)
    }
    if (pending.length > 0) onMigrating('migrations', pending.length, pending.length)
  })
  database.pragma('foreign_keys = OFF')
  try {
    migrate.immediate()
  } finally {
    database.pragma(`foreign_keys = ${foreignKeys}`)
  }
}

export function appliedMigrations(database: Sqlite.Database): string[] {
  const isNew = database.prepare(`select 1 from sqlite_schema where name = 'migrations'`).get() === undefined
  return isNew ? [] : (database.prepare('select name from migrations order by name').pluck().all() as string[])
}

function createForbiddingTrigger(table: string, name: string, event: RawBuilder<unknown>, condition = sql``) {
  const trigger = sql.ref(`${table}_no_${name}`)
  const message = sql.lit(`${table} are append-only`)
  return raw(
    sql`create trigger ${trigger} before ${event} on ${sql.table(table)} ${condition} begin select raise(abort, ${message}); end`,
  )
}

function withTableOptions(table: CreateTableBuilder<string, never>, ending: RawBuilder<unknown>) {
  return table.modifyEnd(ending)
}

function refuseIf(refusal: string, select: RawBuilder<unknown>) {
  return { ...raw(select), refusal }
}

function raw(statement: RawBuilder<unknown>) {
  return { compile: () => statement.compile(kysely) }
}
