import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

const template = 'template_of_tests'

/** A migrated, empty PostgreSQL database of its own: its URL as the superuser, and how to remove it. */
export async function newPostgresDatabase({
  isMigrated = true,
} = {}): Promise<{ url: string; remove: () => Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await asAdmin(`create database ${name} template ${isMigrated ? template : 'template0'} strategy file_copy`)
  return { url: serverUrl() + name, remove: () => asAdmin(`drop database ${name} with (force)`) }
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
