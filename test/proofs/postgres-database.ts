import pg from 'pg'
import type { PostgresServer } from '../support/postgres-server.ts'

/** Creates an empty database and returns its URL. */
export async function newPostgresDatabase(server: PostgresServer, name: string): Promise<string> {
  const client = new pg.Client(server.url('postgres'))
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  return server.url(name)
}
