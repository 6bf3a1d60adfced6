import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const payouts: Migration = {
  name: '0014-payouts',
  statements: (schema, { uuid, timestamp, amount, table }) => [
    table(
      schema
        .createTable('payouts')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('id', uuid, (c) => c.notNull())
        .addColumn('sequence', 'integer', (c) => c.notNull())
        .addColumn('wallet_id', uuid, (c) => c.notNull())
        .addColumn('customer_id', uuid)
        .addColumn('transfer_id', uuid, (c) => c.notNull())
        // A bijection computes the transaction id from the sequence, so transaction ids are unique without an index.
        .addColumn('transaction_id', 'text', (c) => c.notNull())
        .addColumn('reference_id', uuid, (c) => c.notNull())
        .addColumn('idempotency_key', 'text')
        .addColumn('fingerprint', 'text')
        .addColumn('status', 'text', (c) =>
          c.notNull().check(sql`status in ('PROCESSING', 'COMPLETED', 'FAILED', 'RETURNED')`),
        )
        .addColumn('asset_code', 'text', (c) => c.notNull())
        .addColumn('amount', amount, (c) => c.notNull().check(sql`amount > 0`))
        .addColumn('fee', amount, (c) => c.check(sql`fee >= 0`))
        .addColumn('balance_after', amount, (c) => c.notNull())
        .addColumn('exchange_rate', 'text', (c) => c.notNull())
        // `amount_fiat` has the type text, because a fiat value can exceed the range of the type `amount`.
        .addColumn('amount_fiat', 'text', (c) => c.notNull())
        .addColumn('recipient_name', 'text', (c) => c.notNull())
        .addColumn('recipient_currency', 'text', (c) => c.notNull())
        .addColumn('recipient_country', 'text', (c) => c.notNull())
        .addColumn('bank_name', 'text', (c) => c.notNull())
        .addColumn('bank_code', 'text', (c) => c.notNull())
        .addColumn('account_number', 'text', (c) => c.notNull())
        .addColumn('payment_purpose', 'text', (c) => c.notNull())
        .addColumn('narration', 'text')
        .addColumn('transfer_type', 'text', (c) => c.notNull())
        .addColumn('receiver_wallet_id', uuid)
        .addColumn('crypto_transaction_id', 'text')
        .addColumn('network', 'text')
        .addColumn('address', 'text')
        .addColumn('fiat_reference_id', 'text')
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addColumn('updated_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('payouts_key', ['merchant_id', 'id'])
        .addForeignKeyConstraint('payouts_wallet', ['merchant_id', 'wallet_id'], 'wallets', ['merchant_id', 'id'])
        .addForeignKeyConstraint('payouts_customer', ['merchant_id', 'customer_id'], 'customers', ['merchant_id', 'id'])
        .addForeignKeyConstraint('payouts_transfer', ['merchant_id', 'transfer_id'], 'transfers', [
          'merchant_id',
          'id',
        ]),
    ),
    schema.createIndex('payouts_by_sequence').unique().on('payouts').columns(['merchant_id', 'sequence']),
    schema
      .createIndex('payouts_by_idempotency_key')
      .unique()
      .on('payouts')
      .columns(['merchant_id', 'idempotency_key'])
      .where(sql.ref('idempotency_key'), 'is not', null),
  ],
}
