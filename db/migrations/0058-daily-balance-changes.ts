import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// Maintained sums for the overview: the change of the balances of all wallets of a merchant on a day, by asset. The sums
// are counted from the same events as the payout statistics, with the same cursor. So the cursors start again: the
// service counts the history of existing merchants in the background after the migration.
export const dailyBalanceChanges: Migration = {
  name: '0058-daily-balance-changes',
  statements: (schema, { uuid, amount, binaryText, clusteredTable, raw }) => [
    clusteredTable(
      schema
        .createTable('daily_balance_changes')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        // A date in UTC, such as 2026-03-01, or 'all' for the sum of all days, which sorts after every date.
        .addColumn('day', binaryText, (c) => c.notNull())
        .addColumn('asset_code', 'text', (c) => c.notNull())
        // Whole units and remainders are summed separately, so that no sum overflows 64 bits.
        .addColumn('change_units', amount, (c) => c.notNull())
        .addColumn('change_rest', amount, (c) => c.notNull())
        // Serves the days of a merchant.
        .addPrimaryKeyConstraint('daily_balance_changes_key', ['merchant_id', 'day', 'asset_code'])
        .addForeignKeyConstraint('daily_balance_changes_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
    raw(sql`delete from payout_statistics`),
    raw(sql`update statistics_cursors set through = 0`),
  ],
}
