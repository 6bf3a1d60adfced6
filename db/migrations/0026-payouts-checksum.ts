import type { Migration } from '../../src/database/migration.ts'

export const payoutsChecksum: Migration = {
  name: '0026-payouts-checksum',
  statements: (schema) => [
    // Of the columns that never change, so that an audit detects corruption by a failing disk. NULL for earlier rows.
    schema.alterTable('payouts').addColumn('checksum', 'integer'),
  ],
}
