import type { Migration } from '../../src/database/migration.ts'

export const payoutsChecksum: Migration = {
  name: '0026-payouts-checksum',
  statements: (schema) => [
    // The checksum covers the columns that never change, so that the audit can detect disk corruption. The checksum is
    // NULL for payouts that were created before this migration.
    schema.alterTable('payouts').addColumn('checksum', 'integer'),
  ],
}
