import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The sum of the changes of all balances of a merchant on a day, by asset. A background job computes these sums
// together with the payout statistics, from the same events and with the same cursor. The migration resets the cursor
// and the payout statistics, so that all events are counted again.
export const dailyBalanceChanges: Migration = {
  name: '0058-daily-balance-changes',
  statements: (schema, { uuid, amount, binaryText, clusteredTable, raw }) => [
    clusteredTable(
      schema
        .createTable('daily_balance_changes')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        // A date in UTC, for example 2026-03-01, or `all` for the sum of all days. `all` sorts after every date.
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
