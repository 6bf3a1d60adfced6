import type { Migration } from '../../src/database/migration.ts'

export const merchants: Migration = {
  name: '0001-merchants',
  statements: (schema, { uuid, timestamp, table }) => [
    table(
      schema
        .createTable('merchants')
        .addColumn('id', uuid, (c) => c.primaryKey().notNull())
        .addColumn('name', 'text', (c) => c.notNull())
        .addColumn('evm_extended_public_key', 'text')
        .addColumn('tron_extended_public_key', 'text')
        .addColumn('created_at', timestamp, (c) => c.notNull()),
    ),
  ],
}
