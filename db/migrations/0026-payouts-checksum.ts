import type { Migration } from '../../src/database/migration.ts'

export const payoutsChecksum: Migration = {
  name: '0026-payouts-checksum',
  statements: (schema) => [
    // The checksum of the columns that never change, by which an audit detects disk corruption. NULL for earlier rows.
    schema.alterTable('payouts').addColumn('checksum', 'integer'),
  ],
}
