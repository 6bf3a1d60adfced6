import type { Migration } from '../../src/database/migration.ts'

export const payoutsChecksum: Migration = {
  name: '0026-payouts-checksum',
  statements: (schema) => [
    // Of what never changes in the row, so that an audit sees what a failing disk has changed. Earlier rows have none.
    schema.alterTable('payouts').addColumn('checksum', 'integer'),
  ],
}
