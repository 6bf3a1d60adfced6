import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { openDatabase } from '../../src/app/open-database.ts'
import type { Database } from '../../src/database/database.ts'

const template = 'template_of_tests'

/** Whether it has our tables. */
type PostgresOptions = { readonly isMigrated?: boolean }

/** A database, how to open it as the service does, and how to give it back. */
type PostgresDatabase = {
  readonly url: string
  readonly open: () => Promise<Database>
  readonly remove: () => Promise<void>
}

/**
 * A migrated, empty PostgreSQL database of its own: its URL as the superuser, and how to remove it.
 *
 * To make, open and drop one takes a third of a second, so one that was only written to is emptied and given to the next test,
 * with the connections that it has and what they have prepared.
 */
export async function newPostgresDatabase({ isMigrated = true }: PostgresOptions = {}): Promise<PostgresDatabase> {
  const emptied = isMigrated ? emptyDatabases.pop() : undefined
  const name = emptied ?? `test_${randomUUID().replaceAll('-', '')}`
  const url = serverUrl() + name
  if (emptied === undefined) {
    await asAdmin(`create database ${name} template ${isMigrated ? template : 'template0'} strategy file_copy`)
  }
  const remove = async () => {
    if (isMigrated && !spoiled.has(url)) {
      await empty(url)
      emptyDatabases.push(name)
      return
    }
    await (await opened.get(url))?.close()
    await asAdmin(`drop database ${name} with (force)`)
  }
  return { url, open: () => openAgain(url), remove }
}

/** The databases that stay open from test to test, and the superuser's connections that empty them. */
const opened = new Map<string, Promise<Database>>()
const emptiers = new Map<string, Promise<pg.Client>>()

async function openAgain(url: string): Promise<Database> {
  const onFatal = (error: Error) => {
    throw error
  }
  const open = opened.get(url) ?? openDatabase({ url, onFatal })
  opened.set(url, open)
  return forOneTest(await open)
}

/** The same connections as a database of its own: modules keep what they know of one by this object. */
function forOneTest(db: Database): Database {
  const running = new Set<Promise<unknown>>()
  let isClosed = false
  return {
    ...db,
    write: (operation, options) => {
      if (isClosed) throw new Error('a test writes after its end')
      const result = db.write(operation, options)
      const ended = result.catch(() => {}).finally(() => running.delete(ended))
      running.add(ended)
      return result
    },
    close: async () => {
      isClosed = true
      await Promise.all(running)
    },
  }
}

/** Has a database dropped in the end, because a test changes more than its rows. */
export function corruptPostgresDatabase(url: string): void {
  spoiled.add(url)
}

const emptyDatabases: string[] = []
const spoiled = new Set<string>()

/** Removes every row but those that the migrations have brought. */
async function empty(url: string): Promise<void> {
  const emptier = emptiers.get(url) ?? connect(url)
  emptiers.set(url, emptier)
  await (await emptier).query(
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
  admin ??= connect(`${serverUrl()}postgres`)
  await (await admin).query(text)
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
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
