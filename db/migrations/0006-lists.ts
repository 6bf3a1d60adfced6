import type { Migration } from '../../src/database/migration.ts'

export const lists: Migration = {
  name: '0006-lists',
  statements: (schema, { uuid, clusteredTable }) => [
    clusteredTable(
      schema
        .createTable('sequences')
        .addColumn('merchant_id', uuid, (c) => c.notNull().references('merchants.id'))
        .addColumn('name', 'text', (c) => c.notNull())
        .addColumn('latest', 'integer', (c) => c.notNull())
        .addPrimaryKeyConstraint('sequences_key', ['merchant_id', 'name']),
    ),
    // `list_counts` stores the number of rows in each block of sequence numbers. A block contains `block_size`
    // consecutive sequence numbers of a list.
    clusteredTable(
      schema
        .createTable('list_counts')
        .addColumn('merchant_id', uuid, (c) => c.notNull().references('merchants.id'))
        .addColumn('list', 'text', (c) => c.notNull())
        .addColumn('block_size', 'integer', (c) => c.notNull())
        .addColumn('block', 'integer', (c) => c.notNull())
        .addColumn('row_count', 'integer', (c) => c.notNull())
        .addPrimaryKeyConstraint('list_counts_key', ['merchant_id', 'list', 'block_size', 'block']),
    ),
  ],
}
