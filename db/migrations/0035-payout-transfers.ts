import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// How payouts reach the bank: which rail carries which, how far each has come on it, and what banks have reported.
export const payoutTransfers: Migration = {
  name: '0035-payout-transfers',
  statements: (schema, { uuid, timestamp, amount, json, clusteredTable }) => [
    // By the order that a bank knows, which tells the merchant as an API key does: what is due is looked for over all merchants, in
    // order of age. The audit holds it to its payout.
    clusteredTable(
      schema
        .createTable('payout_transfers')
        // The payout's reference_id.
        .addColumn('order_id', uuid, (c) => c.notNull())
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('payout_id', uuid, (c) => c.notNull())
        .addColumn('rail', 'text', (c) => c.notNull())
        .addColumn('state', 'text', (c) =>
          c
            .notNull()
            .check(
              sql`state in ('QUEUED', 'SUBMITTING', 'UNKNOWN', 'ACCEPTED', 'COMPLETED', 'REJECTED', 'RETURNED', 'CANCELLED', 'ATTENTION')`,
            ),
        )
        // When the bank is asked next, in milliseconds since 1970; NULL when it is not asked any more. While it is being asked
        // it lies behind the longest that an answer may take.
        .addColumn('due_at', amount)
        // How often the bank was asked what became of it since it last said something new.
        .addColumn('asked', 'integer', (c) => c.notNull())
        // How often it was submitted, and when first.
        .addColumn('attempts', 'integer', (c) => c.notNull())
        .addColumn('submitted_at', timestamp)
        // The bank's own name for the payment.
        .addColumn('reference', 'text')
        // When somebody wanted the bank to take it back, until it has answered.
        .addColumn('cancel_asked_at', timestamp)
        // Of each state that it came to: which, when, and why.
        .addColumn('history', json, (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addColumn('updated_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('payout_transfers_key', ['order_id'])
        .addForeignKeyConstraint('payout_transfers_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
    // What is to be submitted, in order of age.
    schema
      .createIndex('payout_transfers_queued')
      .on('payout_transfers')
      .columns(['rail', 'due_at'])
      .where(sql.ref('state'), '=', sql.lit('QUEUED')),
    // Of what the bank is to be asked.
    schema
      .createIndex('payout_transfers_due')
      .on('payout_transfers')
      .columns(['rail', 'due_at'])
      .where(sql.ref('due_at'), 'is not', null)
      .where(sql.ref('state'), '<>', sql.lit('QUEUED')),
    // What a person must look at.
    schema
      .createIndex('payout_transfers_attention')
      .on('payout_transfers')
      .columns(['merchant_id', 'updated_at', 'order_id'])
      .where(sql.ref('state'), '=', sql.lit('ATTENTION')),
    clusteredTable(
      schema
        .createTable('rail_routes')
        // Each `*` where it is for all.
        .addColumn('asset_code', 'text', (c) => c.notNull())
        .addColumn('currency', 'text', (c) => c.notNull())
        .addColumn('country', 'text', (c) => c.notNull())
        .addColumn('rail', 'text', (c) => c.notNull())
        .addPrimaryKeyConstraint('rail_routes_key', ['asset_code', 'currency', 'country']),
    ),
    clusteredTable(
      schema
        .createTable('paused_rails')
        .addColumn('rail', 'text', (c) => c.notNull())
        .addColumn('paused_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('paused_rails_key', ['rail']),
    ),
    // What banks have posted, as it came: once for each id that they gave it.
    clusteredTable(
      schema
        .createTable('rail_reports')
        .addColumn('rail', 'text', (c) => c.notNull())
        .addColumn('message_id', 'text', (c) => c.notNull())
        .addColumn('body', 'text', (c) => c.notNull())
        .addColumn('received_at', timestamp, (c) => c.notNull())
        // When what it says was done; NULL until then.
        .addColumn('read_at', timestamp)
        .addPrimaryKeyConstraint('rail_reports_key', ['rail', 'message_id']),
    ),
    schema
      .createIndex('rail_reports_unread')
      .on('rail_reports')
      .columns(['rail', 'received_at'])
      .where(sql.ref('read_at'), 'is', null),
  ],
}
