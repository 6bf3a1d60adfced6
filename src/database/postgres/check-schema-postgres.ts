import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { migrations } from '../../../db/migrations/index.ts'
import type { SchemaCheck, SchemaObject } from '../schema-check.ts'
import { compareSchemas } from '../schema-check.ts'
import { createSchema } from './migrate-postgres.ts'
import { sqlState } from './postgres-errors.ts'
import { schemaObjectsSql } from './schema-objects.ts'

/**
 * Compares the schema of a database in the latest form with that which the migrations make.
 *
 * The migrations run in a scratch schema of the same server, in a transaction that is rolled back: versions of PostgreSQL write
 * the same definition in different ways. Where the user may not create a schema, or the server is a standby, `unchecked` says so.
 *
 * @param client a connection of its own, which is opened and closed here
 */
export async function checkSchemaPostgres(client: pg.Client): Promise<SchemaCheck> {
  client.on('error', () => {})
  await client.connect()
  try {
    // A visitor's connection reads only unless it says otherwise.
    await client.query('begin read write')
    const { rows } = await client.query(
      `select current_schema() as schema, current_setting('server_version') as version`,
    )
    const { schema, version } = rows[0] as { schema: string; version: string }
    const expected = expectedByVersion.get(version) ?? (await buildExpectedSchema(client))
    expectedByVersion.set(version, expected)
    return compareSchemas(await readSchemaObjects(client, schema), expected)
  } catch (error) {
    const unchecked = uncheckedReason(error)
    if (unchecked === null) throw error
    return { differences: [], notices: [], unchecked }
  } finally {
    await client.query('rollback').catch(() => {})
    await client.end().catch(() => {})
  }
}

/** What the migrations make on a server of each version. */
const expectedByVersion = new Map<string, readonly SchemaObject[]>()

async function buildExpectedSchema(client: pg.Client): Promise<readonly SchemaObject[]> {
  const scratch = `payout_gateway_${randomBytes(8).toString('hex')}`
  await client.query(`create schema ${scratch}`)
  await client.query(`set local search_path = ${scratch}`)
  await client.query(`set local app.every_merchant = 'on'`)
  await createSchema(client, migrations)
  return readSchemaObjects(client, scratch)
}

/** Names are written without their schema where `search_path` leads to it, so those of two schemas are the same. */
async function readSchemaObjects(client: pg.Client, schema: string): Promise<SchemaObject[]> {
  await client.query(`select set_config('search_path', quote_ident($1), true)`, [schema])
  const { rows } = await client.query<SchemaObject>(schemaObjectsSql)
  return rows
}

function uncheckedReason(error: unknown): string | null {
  const state = sqlState(error)
  if (state === '42501')
    return `the schema, for want of the right to create another to compare it with (grant create on database … to …): ${(error as Error).message}`
  return state === '25006' ? 'the schema, because a standby makes no other to compare it with' : null
}
