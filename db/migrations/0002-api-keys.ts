import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The primary key of `api_keys` omits the merchant id, because a request identifies the merchant only by the API key's
// id.
export const apiKeys: Migration = {
  name: '0002-api-keys',
  statements: (schema, { uuid, timestamp, table }) => [
    table(
      schema
        .createTable('api_keys')
        .addColumn('id', 'text', (c) => c.primaryKey().notNull())
        .addColumn('merchant_id', uuid, (c) => c.notNull().references('merchants.id'))
        .addColumn('mode', 'text', (c) => c.notNull().check(sql`mode in ('sandbox', 'live')`))
        .addColumn('secret_hash', 'text', (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addColumn('last_used_at', timestamp)
        .addColumn('revoked_at', timestamp),
    ),
    schema.createIndex('api_keys_by_merchant').on('api_keys').columns(['merchant_id', 'created_at']),
  ],
}
