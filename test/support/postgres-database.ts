import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

const template = 'template_of_tests'

/** A database, and how to give it back. */
type PostgresDatabase = { readonly url: string; readonly remove: () => Promise<void> }

/**
 * A migrated, empty PostgreSQL database of its own: its URL as the superuser, and how to remove it.
 *
 * To make and drop one takes a third of a second, so one that was only written to is emptied and given to the next test.
 */
export async function newPostgresDatabase({ isMigrated = true } = {}): Promise<PostgresDatabase> {
  const emptied = isMigrated ? emptyDatabases.pop() : undefined
  const name = emptied ?? `test_${randomUUID().replaceAll('-', '')}`
  const url = serverUrl() + name
  if (emptied === undefined) {
    await asAdmin(`create database ${name} template ${isMigrated ? template : 'template0'} strategy file_copy`)
  }
  const remove = async () => {
    if (!isMigrated || spoiled.has(url)) return asAdmin(`drop database ${name} with (force)`)
    await empty(url)
    emptyDatabases.push(name)
  }
  return { url, remove }
}

/** Has a database dropped in the end, because a test changes more than its rows. */
export function spoilPostgresDatabase(url: string): void {
  spoiled.add(url)
}

const emptyDatabases: string[] = []
const spoiled = new Set<string>()

/** Removes every row but those that the migrations have brought. */
async function empty(url: string): Promise<void> {
  await runSql(
    url,
    `do $$ declare name text; begin
      -- No trigger forbids it then, and no foreign key is asked.
      set local session_replication_role = replica;
      for name in select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
        and relname not in ('migrations', 'asset_codes', 'asset_networks')
      loop execute format('delete from %I', name); end loop;
      delete from asset_networks where created_at > (select min(created_at) from asset_networks);
      delete from asset_codes where created_at > (select min(created_at) from asset_codes);
    end $$`,
  )
}

/** Runs SQL in the database at `url` as the superuser, whom neither triggers' owner nor row-level security binds. */
export async function runSql<Row extends object>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

let admin: Promise<pg.Client> | null = null

async function asAdmin(text: string): Promise<void> {
  admin ??= connectAdmin()
  await (await admin).query(text)
}

async function connectAdmin(): Promise<pg.Client> {
  const client = new pg.Client(`${serverUrl()}postgres`)
  await client.connect()
  // The tests end without saying so, and the server does not wait for them.
  client.on('error', () => {})
  return client
}

function serverUrl(): string {
  const url = inject('postgresUrl')
  if (url === null) throw new Error('there is no PostgreSQL server')
  return url
}
