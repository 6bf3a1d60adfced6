import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const ledger: Migration = {
  name: '0008-ledger',
  statements: (schema, { uuid, timestamp, amount, clusteredTable, appendOnly }) => [
    clusteredTable(
      schema
        .createTable('accounts')
        .addColumn('merchant_id', uuid, (c) => c.notNull().references('merchants.id'))
        .addColumn('id', 'text', (c) => c.notNull())
        .addColumn('kind', 'text', (c) =>
          c.notNull().check(sql`kind in ('wallet', 'deposits', 'payouts_in_transit', 'payouts_settled', 'fees')`),
        )
        .addColumn('asset_code', 'text', (c) => c.notNull().references('asset_codes.code'))
        // The balance is NULL for clearing accounts: their balance is the sum of their entries.
        .addColumn('balance', amount, (c) => c.check(sql`balance >= 0`))
        .addColumn('entry_count', 'integer', (c) => c.notNull().check(sql`entry_count >= 0`))
        .addPrimaryKeyConstraint('accounts_key', ['merchant_id', 'id'])
        .addCheckConstraint('accounts_balance', sql`(kind = 'wallet') = (balance is not null)`),
    ),
    clusteredTable(
      schema
        .createTable('transfers')
        .addColumn('merchant_id', uuid, (c) => c.notNull().references('merchants.id'))
        .addColumn('id', uuid, (c) => c.notNull())
        .addColumn('kind', 'text', (c) =>
          c.notNull().check(sql`kind in ('deposit', 'payout', 'payout_completed', 'payout_failed', 'payout_returned')`),
        )
        .addColumn('asset_code', 'text', (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('transfers_key', ['merchant_id', 'id']),
    ),
    ...appendOnly('transfers'),
    clusteredTable(
      schema
        .createTable('entries')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('transfer_id', uuid, (c) => c.notNull())
        .addColumn('line', 'integer', (c) => c.notNull())
        .addColumn('account_id', 'text', (c) => c.notNull())
        .addColumn('direction', 'text', (c) => c.notNull().check(sql`direction in ('debit', 'credit')`))
        .addColumn('amount', amount, (c) => c.notNull().check(sql`amount > 0`))
        // `sequence` and `balance_after` are NULL for entries of clearing accounts.
        .addColumn('sequence', 'integer')
        .addColumn('balance_after', amount, (c) => c.check(sql`balance_after >= 0`))
        .addPrimaryKeyConstraint('entries_key', ['merchant_id', 'transfer_id', 'line'])
        .addForeignKeyConstraint('entries_transfer', ['merchant_id', 'transfer_id'], 'transfers', ['merchant_id', 'id'])
        .addForeignKeyConstraint('entries_account', ['merchant_id', 'account_id'], 'accounts', ['merchant_id', 'id']),
    ),
    ...appendOnly('entries'),
    // This index serves a wallet's statement, and makes `sequence` unique within an account.
    schema
      .createIndex('entries_by_account')
      .unique()
      .on('entries')
      .columns(['merchant_id', 'account_id', 'sequence'])
      .where(sql.ref('sequence'), 'is not', null),
  ],
}
