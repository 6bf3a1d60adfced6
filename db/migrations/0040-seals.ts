import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// What happened so far, sealed: each row covers the events after those of the one before it, with what they moved and made,
// and has its hash, so that nobody changes history and leaves them as they were.
export const seals: Migration = {
  name: '0040-seals',
  statements: (schema, { uuid, timestamp, clusteredTable, appendOnly }) => [
    clusteredTable(
      schema
        .createTable('seals')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('number', 'integer', (c) => c.notNull().check(sql`number > 0`))
        // In which form rows were written to be hashed.
        .addColumn('form', 'integer', (c) => c.notNull())
        // The last event that it covers.
        .addColumn('through', 'integer', (c) => c.notNull())
        // The beginning of the hash of each row, by which the one that differs is found.
        .addColumn('prints', 'text', (c) => c.notNull())
        // The hash of all rows, and of all this together with the hash of the seal before.
        .addColumn('contents', 'text', (c) => c.notNull())
        .addColumn('hash', 'text', (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('seals_key', ['merchant_id', 'number'])
        .addForeignKeyConstraint('seals_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
    ...appendOnly('seals'),
  ],
}
