import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { isoTime, typeOids } from '../../src/database/postgres/values.ts'
import type { App } from './app.ts'
import { corruptPostgresDatabase } from './postgres-database.ts'

/** Direct access of tests to a database of each engine: read every row, and change any. */
type Backdoor = {
  /** A text that changes with every commit. */
  readonly version: () => Promise<string>
  /** The rows of every table in key order, and of every view; every value as text. */
  readonly rows: () => Promise<Readonly<Record<string, readonly Row[]>>>
  /** Drops or disables the triggers and constraints of the tables in a text, and restores them at close. */
  readonly disarm: (statements: string) => Promise<void>
  /** Runs a statement and returns the number of changed rows. */
  readonly run: (statement: string) => Promise<number>
  readonly close: () => Promise<void>
}

type Row = Readonly<Record<string, unknown>>
type Stored = Readonly<Record<string, readonly string[]>>

/**
 * Returns every row of every table of an app as text, for tests that nothing changed. It omits the last use of a key,
 * which a rejected request also updates.
 */
export async function readStoredRows({ url }: Pick<App, 'url'>): Promise<Stored> {
  const watched = watches.get(url) ?? watch(url)
  const { backdoor, seen } = await watched
  const version = await backdoor.version()
  if (seen?.version === version) return seen.stored
  const rows = Object.entries(await backdoor.rows())
  const stored = Object.fromEntries(
    rows.map(([table, rows]) => [table, rows.map(({ last_used_at: _, ...row }) => JSON.stringify(row))]),
  )
  watches.set(url, Promise.resolve({ backdoor, seen: { version, stored } }))
  return stored
}

type Watch = {
  readonly backdoor: Backdoor
  readonly seen: { readonly version: string; readonly stored: Stored } | null
}

/** The databases that this test has read: a repeated read mostly checks that nothing was committed. */
const watches = new Map<string, Promise<Watch>>()

function watch(url: string): Promise<Watch> {
  const watched = open({ url }).then((backdoor) => ({ backdoor, seen: null }))
  watches.set(url, watched)
  onTestFinished(async () => {
    watches.delete(url)
    await (await watched).backdoor.close()
  })
  return watched
}

/**
 * Runs `statements` directly in the database without triggers and, as far as possible, without constraints,
 * as an administrator of the database could.
 */
export async function tamperWith(app: App, ...statements: string[]): Promise<void> {
  const backdoor = await open(app)
  try {
    await backdoor.disarm(statements.join('; '))
    for (const statement of statements) {
      const changed = await backdoor.run(statement)
      if (changed === 0 && !statement.startsWith('drop ')) throw new Error(`this changed nothing: ${statement}`)
    }
  } finally {
    await backdoor.close()
  }
}

function open({ url }: Pick<App, 'url'>): Promise<Backdoor> {
  return url.startsWith('sqlite:') ? openFile(url.replace(/^sqlite:/, '')) : openServer(url)
}

async function openFile(path: string): Promise<Backdoor> {
  const database = new Sqlite(path)
  let dropped: string[] = []
  const names = (type: string) =>
    database.prepare('select name from sqlite_schema where type = ?').pluck().all(type) as string[]
  const asText = (row: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]))
  return {
    version: async () => String(database.pragma('data_version', { simple: true })),
    rows: async () =>
      Object.fromEntries(
        [...names('table'), ...names('view')].map((table) => {
          const all = database.prepare(`select * from "${table}"`).safeIntegers().all()
          return [table, (all as Record<string, unknown>[]).map(asText)]
        }),
      ),
    disarm: async (statements) => {
      database.pragma('foreign_keys = OFF')
      database.pragma('ignore_check_constraints = ON')
      const triggers = database
        .prepare<[], { name: string; tbl_name: string; sql: string }>(
          `select name, tbl_name, sql from sqlite_schema where type = 'trigger'`,
        )
        .all()
        .filter(({ tbl_name: table }) => new RegExp(`\\b${table}\\b`).test(statements))
      dropped = triggers.map(({ sql }) => sql)
      for (const { name } of triggers) database.exec(`drop trigger ${name}`)
    },
    run: async (statement) => database.prepare(statement).run().changes,
    close: async () => {
      for (const trigger of dropped) database.exec(trigger)
      database.close()
    },
  }
}

async function openServer(url: string): Promise<Backdoor> {
  const client = new pg.Client({
    connectionString: url,
    options: '-c timezone=UTC',
    types: { getTypeParser: asStored },
  })
  await client.connect()
  let dropped: string[] = []
  const all = async <Row>(text: string) => (await client.query(text)).rows as Row[]
  const tables = await all<{ name: string }>(`select relname as name from pg_class where relkind in ('r', 'v')
    and relnamespace = 'public'::regnamespace order by 1`)
  const everyRow = tables.map(({ name }) => `select * from "${name}" order by 1, 2`).join(';')
  return {
    // The finished transactions of the whole server: other tests change this text too.
    version: async () => JSON.stringify(await all('select pg_current_snapshot()::text')),
    rows: async () => {
      const results = (await client.query(everyRow)) as unknown as pg.QueryResult<Record<string, unknown>>[]
      return Object.fromEntries(
        tables.map(({ name }, i) => [name, (results[i]?.rows ?? []).map(({ id_text: _, ...row }) => row)]),
      )
    },
    disarm: async (statements) => {
      // After a change of a table, PostgreSQL plans each statement on the table again.
      const { rows: checks } = await client.query<{ drop: string; add: string }>(
        `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
          format('alter table %s add constraint %I %s not valid', conrelid::regclass, conname, pg_get_constraintdef(pg_constraint.oid)) as add
        from pg_constraint join pg_class on pg_class.oid = conrelid
        where contype = 'c' and connamespace = 'public'::regnamespace and $1 ~ ('\\m' || relname || '\\M')`,
        [statements],
      )
      await client.query(checks.map(({ drop }) => drop).join(';'))
      dropped = checks.map(({ add }) => add)
      // Disables triggers and with them foreign key checks.
      await client.query('set session_replication_role = replica')
    },
    run: async (statement) => {
      if (statement.startsWith('drop ')) corruptPostgresDatabase(url)
      return (await client.query(statement)).rowCount ?? 0
    },
    close: async () => {
      // Restores them without checking the rows.
      if (dropped.length > 0) {
        await client.query(
          [...dropped, 'update pg_constraint set convalidated = true where not convalidated'].join(';'),
        )
      }
      await client.end()
    },
  }
}

/** Returns every value as the text that SQLite has. */
function asStored(type: number): (text: string) => string {
  return type === typeOids.timestamp ? isoTime : (text) => text
}
