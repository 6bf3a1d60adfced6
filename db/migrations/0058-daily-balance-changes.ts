import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The table stores how much the balances of a merchant's wallets changed on a day, by asset. A background job computes
// the balance changes together with the payout statistics, from the same events. The migration deletes the payout
// statistics and resets the cursor, so that all events are counted again.
export const dailyBalanceChanges: Migration = {
  name: '0058-daily-balance-changes',
  statements: (schema, { uuid, amount, binaryText, clusteredTable, raw }) => [
    clusteredTable(
      schema
        .createTable('daily_balance_changes')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        // The day is a date in UTC, for example 2026-03-01, or `all` for the sum of all days. The text `all` sorts
        // after every date.
        .addColumn('day', binaryText, (c) => c.notNull())
        .addColumn('asset_code', 'text', (c) => c.notNull())
        // Whole units and remainders are summed separately, so that no sum overflows 64 bits.
        .addColumn('change_units', amount, (c) => c.notNull())
        .addColumn('change_rest', amount, (c) => c.notNull())
        .addPrimaryKeyConstraint('daily_balance_changes_key', ['merchant_id', 'day', 'asset_code'])
        .addForeignKeyConstraint('daily_balance_changes_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
    raw(sql`delete from payout_statistics`),
    raw(sql`update statistics_cursors set through = 0`),
  ],
}
