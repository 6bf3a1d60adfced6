import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// A seal is a hash over the events since the previous seal and over the objects of these events. If a sealed event or
// object is changed later, the audit finds that the hash differs.
export const seals: Migration = {
  name: '0040-seals',
  statements: (schema, { uuid, timestamp, clusteredTable, appendOnly }) => [
    clusteredTable(
      schema
        .createTable('seals')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('number', 'integer', (c) => c.notNull().check(sql`number > 0`))
        .addColumn('form', 'integer', (c) => c.notNull())
        // The sequence number of the last event that the seal contains.
        .addColumn('through', 'integer', (c) => c.notNull())
        // `prints` contains the first characters of each row's hash, so that the audit can show which row differs.
        .addColumn('prints', 'text', (c) => c.notNull())
        // `contents` is the hash of all rows that the seal covers. `hash` covers `contents` and the hash of the
        // previous seal.
        .addColumn('contents', 'text', (c) => c.notNull())
        .addColumn('hash', 'text', (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('seals_key', ['merchant_id', 'number'])
        .addForeignKeyConstraint('seals_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
    ...appendOnly('seals'),
  ],
}
