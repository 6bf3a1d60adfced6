import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { openDatabase } from '../../src/app/open-database.ts'
import type { Database } from '../../src/database/database.ts'

const template = 'template_of_tests'

/** Returns whether the database has our tables. */
type PostgresOptions = { readonly isMigrated?: boolean }

/** A database, how to open it as the service does, and how to release it. */
type PostgresDatabase = {
  readonly url: string
  readonly open: () => Promise<Database>
  readonly remove: () => Promise<void>
}

/**
 * Provides a migrated, empty PostgreSQL database: its superuser URL, and its removal.
 *
 * Creating and dropping one takes a third of a second, so a database without schema changes is emptied and reused,
 * with its connections and their prepared statements.
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

/** The pooled databases, and the superuser's connections that empty them. */
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

/** Wraps the same connections in a new database object, because modules cache by it. */
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

/** Marks a database to be dropped instead of reused, because a test changes its schema. */
export function corruptPostgresDatabase(url: string): void {
  spoiled.add(url)
}

const emptyDatabases: string[] = []
const spoiled = new Set<string>()

/** Removes every row except those of migrations. */
async function empty(url: string): Promise<void> {
  const emptier = emptiers.get(url) ?? connect(url)
  emptiers.set(url, emptier)
  await (await emptier).query(
    `do $$ declare name text; begin
      -- Without triggers and foreign key checks.
      set local session_replication_role = replica;
      for name in select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
        and relname not in ('migrations', 'asset_codes', 'asset_networks')
      loop execute format('delete from %I', name); end loop;
      delete from asset_networks where created_at > (select min(created_at) from asset_networks);
      delete from asset_codes where created_at > (select min(created_at) from asset_codes);
    end $$`,
  )
}

/** Runs SQL in the database at `url` as the superuser, which bypasses row-level security. */
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
  // The tests end without closing connections, and the server does not wait for them.
  client.on('error', () => {})
  return client
}

function serverUrl(): string {
  const url = inject('postgresUrl')
  if (url === null) throw new Error('there is no PostgreSQL server')
  return url
}
