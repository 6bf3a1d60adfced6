import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { isoTime, typeOids } from '../../src/database/postgres/values.ts'
import type { App } from './app.ts'
import { corruptPostgresDatabase } from './postgres-database.ts'

/** What tests do behind the service's back, on each engine: read every row, and change any. */
type Backdoor = {
  /** Another text when anything was committed since. */
  readonly version: () => Promise<string>
  /** The rows of every table and view, those of a table in the order of its key; every value as text. */
  readonly rows: () => Promise<Readonly<Record<string, readonly Row[]>>>
  /** Drops or disables whatever would forbid a change, and puts it back when it is closed. */
  readonly disarm: () => Promise<void>
  /** Runs a statement and answers how many rows it changed. */
  readonly run: (statement: string) => Promise<number>
  readonly close: () => Promise<void>
}

type Row = Readonly<Record<string, unknown>>
type Stored = Readonly<Record<string, readonly string[]>>

/**
 * Every row of every table of an app, as text, for a test that nothing moved. When a key was last used is left out: a
 * refused request used its key all the same.
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

/** The databases that this test has looked at: most look again only to see that nothing was committed. */
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
 * Runs `statements` behind the service's back, with every trigger dropped and no constraint enforced that can be turned
 * off, as somebody with the database in hand could.
 */
export async function tamperWith(app: App, ...statements: string[]): Promise<void> {
  const backdoor = await open(app)
  try {
    await backdoor.disarm()
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
    disarm: async () => {
      database.pragma('foreign_keys = OFF')
      database.pragma('ignore_check_constraints = ON')
      dropped = database.prepare(`select sql from sqlite_schema where type = 'trigger'`).pluck().all() as string[]
      for (const trigger of names('trigger')) database.exec(`drop trigger ${trigger}`)
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
    // Which transactions were over, on the whole server: another test's make it another text too.
    version: async () => JSON.stringify(await all('select pg_current_snapshot()::text')),
    rows: async () => {
      const results = (await client.query(everyRow)) as unknown as pg.QueryResult<Record<string, unknown>>[]
      return Object.fromEntries(
        tables.map(({ name }, i) => [name, (results[i]?.rows ?? []).map(({ id_text: _, ...row }) => row)]),
      )
    },
    disarm: async () => {
      const checks = await all<{ drop: string; add: string }>(
        `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
          format('alter table %s add constraint %I %s not valid', conrelid::regclass, conname, pg_get_constraintdef(oid)) as add
        from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace`,
      )
      await client.query(checks.map(({ drop }) => drop).join(';'))
      dropped = checks.map(({ add }) => add)
      // No trigger runs, and so no foreign key is asked.
      await client.query('set session_replication_role = replica')
    },
    run: async (statement) => {
      if (statement.startsWith('drop ')) corruptPostgresDatabase(url)
      return (await client.query(statement)).rowCount ?? 0
    },
    close: async () => {
      // As if they had been there all the time, whatever the rows are by now.
      if (dropped.length > 0) {
        await client.query(
          [...dropped, 'update pg_constraint set convalidated = true where not convalidated'].join(';'),
        )
      }
      await client.end()
    },
  }
}

/** Every value is text, as SQLite has it. */
function asStored(type: number): (text: string) => string {
  return type === typeOids.timestamp ? isoTime : (text) => text
}
