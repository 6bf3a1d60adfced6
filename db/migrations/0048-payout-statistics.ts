import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The table stores the count and sum of a merchant's payouts by day, status, asset and recipient currency. The counts
// and sums can be rebuilt from the events.
export const payoutStatistics: Migration = {
  name: '0048-payout-statistics',
  statements: (schema, { uuid, amount, clusteredTable }) => [
    clusteredTable(
      schema
        .createTable('payout_statistics')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        // A date in UTC, for example 2026-03-01.
        .addColumn('day', 'text', (c) => c.notNull())
        .addColumn('asset_code', 'text', (c) => c.notNull())
        .addColumn('recipient_currency', 'text', (c) => c.notNull())
        .addColumn('status', 'text', (c) =>
          c.notNull().check(sql`status in ('PROCESSING', 'COMPLETED', 'FAILED', 'RETURNED')`),
        )
        .addColumn('duration_bucket', 'integer', (c) => c.notNull())
        .addColumn('payout_count', 'integer', (c) => c.notNull())
        // Whole units and remainders are summed separately, so that no sum overflows 64 bits.
        .addColumn('amount_units', amount, (c) => c.notNull())
        .addColumn('amount_rest', amount, (c) => c.notNull())
        .addColumn('fee_units', amount, (c) => c.notNull())
        .addColumn('fee_rest', amount, (c) => c.notNull())
        .addPrimaryKeyConstraint('payout_statistics_key', [
          'merchant_id',
          'day',
          'asset_code',
          'recipient_currency',
          'status',
          'duration_bucket',
        ])
        .addForeignKeyConstraint('payout_statistics_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
  ],
}
