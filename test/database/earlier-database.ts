import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import type { Migration } from '../../src/database/migration.ts'
import { migratePostgres } from '../../src/database/postgres/migrate-postgres.ts'
import { migrateSqlite } from '../../src/database/sqlite/migrate-sqlite.ts'
import type { Engine } from '../support/app.ts'
import { corruptPostgresDatabase, newPostgresDatabase } from '../support/postgres-database.ts'
import { readStoredRows } from '../support/stored.ts'

/** Tables that migrations fill, or that hold no data. */
const ownRows = [
  'migrations',
  'asset_codes',
  'asset_networks',
  'sqlite_stat1',
  'events',
  'watched_addresses',
  'given_addresses',
  'statistics_cursors',
]

/** Returns the rows of each table, every value as text. */
export type Rows = Readonly<Record<string, readonly Readonly<Record<string, string | null>>[]>>

/** Returns the stored rows, without those of migrations and columns of later schemas. */
export async function rowsAt(url: string): Promise<Rows> {
  const stored = Object.entries(await readStoredRows({ url })).filter(([table]) => !ownRows.includes(table))
  const all = stored.map(([table, rows]) => [table, rows.toSorted().map((row) => JSON.parse(row))] as const)
  // A later table has no rows, and older sequences have no events and deposits.
  const known = all.filter(([, rows]) => rows.length > 0)
  return Object.fromEntries(
    known.map(([table, rows]) => [table, rows.filter(({ name }) => name !== 'events' && name !== 'deposits')]),
  )
}

/** Creates a database at migration `form` with these rows; `run` changes it directly. */
export function startEarlierDatabase(engine: Engine, form: readonly Migration[], rows: Rows) {
  return engine === 'sqlite' ? startEarlierFile(form, rows) : startEarlierServer(form, rows)
}

async function startEarlierFile(form: readonly Migration[], rows: Rows) {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'before.sqlite')
  const database = new Sqlite(path)
  onTestFinished(() => void database.close())
  database.pragma('journal_mode = WAL')
  migrateSqlite(database, form)
  database.pragma('foreign_keys = OFF')
  for (const [table, each] of Object.entries(rows)) {
    const names = database.prepare('select name from pragma_table_info(?)').pluck().all(table) as string[]
    const insert = database.prepare(`insert into ${table} (${names}) values (${names.map(() => '?')})`)
    for (const row of each) insert.run(names.map((name) => row[name] ?? null))
  }
  const triggers = database.prepare(`select name from sqlite_schema where type = 'trigger'`).pluck().all()
  return {
    url: `sqlite:${path}`,
    run: async (statement: string) => {
      for (const trigger of triggers) database.exec(`drop trigger if exists ${trigger}`)
      database.exec(statement)
    },
    migrated: async () => database.prepare('select count(*) from migrations').pluck().get() as number,
  }
}

async function startEarlierServer(form: readonly Migration[], rows: Rows) {
  const { url, remove } = await newPostgresDatabase({ isMigrated: false })
  corruptPostgresDatabase(url)
  onTestFinished(remove)
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  await migratePostgres(client, form, { mustExist: false })
  await client.query('set session_replication_role = replica')
  for (const [table, each] of Object.entries(rows)) {
    const { rows: columns } = await client.query<{ name: string }>(
      `select column_name as name from information_schema.columns where table_schema = 'public' and table_name = $1
        and is_generated = 'NEVER'`,
      [table],
    )
    const names = columns.map(({ name }) => name)
    const text = `insert into ${table} (${names}) values (${names.map((_, i) => `$${i + 1}`)})`
    for (const row of each) {
      await client.query(
        text,
        names.map((name) => row[name] ?? null),
      )
    }
  }
  return {
    url,
    run: async (statement: string) => void (await client.query(statement)),
    migrated: async () => Number((await client.query('select count(*) from migrations')).rows[0].count),
  }
}
