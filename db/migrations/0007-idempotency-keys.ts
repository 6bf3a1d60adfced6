import type { Migration } from '../../src/database/migration.ts'

export const idempotencyKeys: Migration = {
  name: '0007-idempotency-keys',
  statements: (schema, { uuid, timestamp, json, table }) => [
    table(
      schema
        .createTable('idempotency_keys')
        .addColumn('merchant_id', uuid, (c) => c.notNull().references('merchants.id'))
        .addColumn('operation', 'text', (c) => c.notNull())
        .addColumn('key', 'text', (c) => c.notNull())
        .addColumn('fingerprint', 'text', (c) => c.notNull())
        .addColumn('result', json, (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('idempotency_keys_key', ['merchant_id', 'operation', 'key']),
    ),
    schema.createIndex('idempotency_keys_by_age').on('idempotency_keys').columns(['merchant_id', 'created_at']),
  ],
}
