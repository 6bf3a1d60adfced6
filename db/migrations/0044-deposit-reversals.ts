import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The primary key contains the deposit's reference, so that each deposit is reversed at most once.
export const depositReversals: Migration = {
  name: '0044-deposit-reversals',
  statements: (schema, { uuid, timestamp, amount, table, appendOnly }) => [
    table(
      schema
        .createTable('deposit_reversals')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('reference', 'text', (c) => c.notNull())
        .addColumn('wallet_id', uuid, (c) => c.notNull())
        .addColumn('transfer_id', uuid, (c) => c.notNull())
        .addColumn('amount', amount, (c) => c.notNull().check(sql`amount > 0`))
        .addColumn('balance_after', amount, (c) => c.notNull().check(sql`balance_after >= 0`))
        .addColumn('reason', 'text', (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('deposit_reversals_key', ['merchant_id', 'reference'])
        .addForeignKeyConstraint('deposit_reversals_deposit', ['merchant_id', 'reference'], 'deposits', [
          'merchant_id',
          'reference',
        ])
        .addForeignKeyConstraint('deposit_reversals_wallet', ['merchant_id', 'wallet_id'], 'wallets', [
          'merchant_id',
          'id',
        ])
        .addForeignKeyConstraint('deposit_reversals_transfer', ['merchant_id', 'transfer_id'], 'transfers', [
          'merchant_id',
          'id',
        ]),
    ),
    ...appendOnly('deposit_reversals'),
  ],
}
