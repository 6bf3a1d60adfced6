import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The primary key contains the deposit's reference, so that each deposit is credited at most once.
export const deposits: Migration = {
  name: '0012-deposits',
  statements: (schema, { uuid, timestamp, amount, table }) => [
    table(
      schema
        .createTable('deposits')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('reference', 'text', (c) => c.notNull())
        .addColumn('wallet_id', uuid, (c) => c.notNull())
        .addColumn('transfer_id', uuid, (c) => c.notNull())
        .addColumn('amount', amount, (c) => c.notNull().check(sql`amount > 0`))
        .addColumn('balance_after', amount, (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('deposits_key', ['merchant_id', 'reference'])
        .addForeignKeyConstraint('deposits_wallet', ['merchant_id', 'wallet_id'], 'wallets', ['merchant_id', 'id'])
        .addForeignKeyConstraint('deposits_transfer', ['merchant_id', 'transfer_id'], 'transfers', [
          'merchant_id',
          'id',
        ]),
    ),
  ],
}
