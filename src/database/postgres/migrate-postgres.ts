import type { RawBuilder } from 'kysely'
import { Kysely, PostgresDialect, sql } from 'kysely'
import type { Client } from 'pg'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { OnProgress } from '../database.ts'
import { missingDatabaseAdvice } from '../database.ts'
import type { Migration, MigrationDialect, PendingMigrations } from '../migration.ts'
import { findPendingMigrations, findUnknownMigration, migrationsToApply } from '../migration.ts'
import { failToConnect } from '../query.ts'
import { camelCase } from '../tables.ts'
import { grantToServiceRole, secureRows } from './row-security.ts'

const kysely = new Kysely<never>({ dialect: new PostgresDialect({ pool: failToConnect }) })

const dialect: MigrationDialect = {
  uuid: sql`uuid`,
  binaryText: sql`text collate "C"`,
  timestamp: sql`timestamptz`,
  amount: sql`bigint`,
  // `json` preserves the order of an object's members; `jsonb` does not.
  json: sql`json`,
  milliseconds: (timestamp) => sql`cast(extract(epoch from ${timestamp}) * 1000 as bigint)`,
  rowAsJson: ({ plain, times, json }, replaced = {}) => {
    const iso = sql.lit('YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    const entries = [...plain, ...times, ...json].flatMap((column) => {
      const value = replaced[column] ?? sql.ref(column)
      const written = times.includes(column) ? sql`to_char(${value} at time zone 'UTC', ${iso})` : value
      return [sql.lit(camelCase(column)), written]
    })
    return sql`json_build_object(${sql.join(entries)})`
  },
  raw,
  table: (table) => table,
  clusteredTable: (table) => table,
  referenceToText: (table, { name, column, target }) =>
    table
      .addColumn(`${column}_text`, 'text', (c) =>
        c
          .generatedAlwaysAs(sql`${sql.ref(column)}::text`)
          .stored()
          .notNull(),
      )
      .addForeignKeyConstraint(name, ['merchant_id', `${column}_text`] as never, target, ['merchant_id', 'id']),
  appendOnly: (table) => forbiddenVerbs.map((verb) => createForbiddingTrigger(table, verb, sql.raw(verb))),
  writeOnce: (table, { column, others }) => [
    createForbiddingTrigger(table, 'delete', sql`delete`),
    createForbiddingTrigger(table, 'truncate', sql`truncate`),
    createForbiddingTrigger(table, 'update', sql`update of ${sql.join(others.map((other) => sql.ref(other)))}`),
    createForbiddingTrigger(
      table,
      'second_update',
      sql`update`,
      sql`for each row when (old.${sql.ref(column)} is not null)`,
    ),
  ],
  dropAppendOnly: (table) =>
    forbiddenVerbs.map((verb) => raw(sql`drop trigger ${sql.ref(`${table}_no_${verb}`)} on ${sql.table(table)}`)),
  view: (name, select) => raw(sql`create view ${sql.table(name)} with (security_invoker = true) as ${select}`),
  replaceTable: (table, { by, referrers, removedReferrers }) => [
    ...[...referrers, ...removedReferrers].map(({ table, name }) =>
      raw(sql`alter table ${sql.table(table)} drop constraint ${sql.ref(name)}`),
    ),
    raw(sql`drop table ${sql.table(table)}`),
    raw(sql`alter table ${sql.table(by)} rename to ${sql.table(table)}`),
    raw(sql`alter table ${sql.table(table)} rename constraint ${sql.ref(`${by}_key`)} to ${sql.ref(`${table}_key`)}`),
    ...referrers.map(({ table: referrer, name, column }) =>
      raw(sql`alter table ${sql.table(referrer)} add constraint ${sql.ref(name)}
        foreign key (merchant_id, ${sql.ref(column)}) references ${sql.table(table)} (merchant_id, id)`),
    ),
    raw(sql`analyze ${sql.table(table)}`),
  ],
  refuseIf: (refusal, select) => ({ ...raw(select), refusal }),
  setPlannerStatistics: () => [],
}

const forbiddenVerbs = ['update', 'delete', 'truncate']

const forbidChangeSql = `create or replace function forbid_change() returns trigger language plpgsql as $$
  begin raise exception '% are append-only', tg_table_name; end $$`

const migrationLockKey = 7_230_417_005

type MigrateOptions = {
  readonly mustExist: boolean
  readonly beforeMigrating?: (pending: Omit<PendingMigrations, 'backUp'>) => MaybePromise<void>
  readonly onMigrating?: OnProgress | undefined
}

/**
 * Runs all migrations in one transaction. An advisory lock prevents concurrent migrations.
 *
 * @throws Error when the database has no tables of this service and `mustExist` is true, or a later version has
 * migrated it
 */
export async function migratePostgres(
  client: Client,
  migrations: readonly Migration[],
  { mustExist, ...callbacks }: MigrateOptions,
): Promise<void> {
  await client.query('begin')
  try {
    await client.query('select pg_advisory_xact_lock($1)', [migrationLockKey])
    // Row-level security also applies to the owner of the tables. Without `app.every_merchant`, a migration would see
    // no rows.
    await client.query(`set local app.every_merchant = 'on'`)
    const { rows: tables } = await client.query(`select to_regclass('migrations') as name`)
    if (tables[0]?.name === null) {
      if (mustExist) throw new Error(`it has no tables of this service; ${missingDatabaseAdvice}`)
      await createMigrationsTable(client)
    }
    await applyPendingMigrations(client, migrations, callbacks)
    await secureRows(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

async function applyPendingMigrations(
  client: Client,
  migrations: readonly Migration[],
  { beforeMigrating = () => {}, onMigrating }: Omit<MigrateOptions, 'mustExist'>,
): Promise<void> {
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name')
  const applied = rows.map(({ name }) => name)
  const unknown = findUnknownMigration(migrations, applied)
  if (unknown) throw new Error(`it has migration ${unknown}, which this version does not know: use a later one`)
  const announced = findPendingMigrations(migrations, applied)
  if (announced) await beforeMigrating(announced)
  const pending = migrationsToApply(migrations, applied)
  if (pending.length === 0) return
  await applyMigrations(client, pending, onMigrating)
  await grantToServiceRole(client)
}

/** The first schema of `search_path` must be empty. */
export async function createSchema(client: Client, migrations: readonly Migration[]): Promise<void> {
  await createMigrationsTable(client)
  await applyMigrations(client, migrations)
  await secureRows(client)
}

async function createMigrationsTable(client: Client): Promise<void> {
  await client.query('create table migrations (name text primary key, applied_at timestamptz not null)')
  await client.query(forbidChangeSql)
}

async function applyMigrations(
  client: Client,
  migrations: readonly Migration[],
  onMigrating: OnProgress = () => {},
): Promise<void> {
  for (const [done, { name, statements }] of migrations.entries()) {
    onMigrating(name, done, migrations.length)
    for (const step of statements(kysely.schema, dialect)) {
      const { sql: text, parameters } = step.compile()
      const { rows } = await client.query(text, [...parameters])
      if (step.refusal !== undefined && rows.length > 0) throw new Error(step.refusal)
    }
    await client.query('insert into migrations values ($1, now())', [name])
  }
  onMigrating('migrations', migrations.length, migrations.length)
}

function createForbiddingTrigger(
  table: string,
  name: string,
  event: RawBuilder<unknown>,
  condition = sql`for each statement`,
) {
  return raw(
    sql`create trigger ${sql.ref(`${table}_no_${name}`)} before ${event} on ${sql.table(table)}
      ${condition} execute function forbid_change()`,
  )
}

function raw(statement: RawBuilder<unknown>) {
  return { compile: () => statement.compile(kysely) }
}
