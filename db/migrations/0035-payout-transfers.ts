import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const payoutTransfers: Migration = {
  name: '0035-payout-transfers',
  statements: (schema, { uuid, timestamp, amount, json, clusteredTable }) => [
    // The primary key omits the merchant id, because the order id identifies the merchant.
    clusteredTable(
      schema
        .createTable('payout_transfers')
        // The order id equals the payout's `reference_id`.
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
        // The time of the next submission or status poll, in milliseconds since 1970. While a status poll is running,
        // the time of the next poll is after the running poll's timeout.
        .addColumn('due_at', amount)
        // Number of status polls since the last change of `state`.
        .addColumn('asked', 'integer', (c) => c.notNull())
        .addColumn('attempts', 'integer', (c) => c.notNull())
        .addColumn('submitted_at', timestamp)
        // The bank's id of the payment.
        .addColumn('reference', 'text')
        // `cancel_asked_at` is NULL after the bank has responded to the cancellation request.
        .addColumn('cancel_asked_at', timestamp)
        .addColumn('history', json, (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addColumn('updated_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('payout_transfers_key', ['order_id'])
        .addForeignKeyConstraint('payout_transfers_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
    schema
      .createIndex('payout_transfers_queued')
      .on('payout_transfers')
      .columns(['rail', 'due_at'])
      .where(sql.ref('state'), '=', sql.lit('QUEUED')),
    schema
      .createIndex('payout_transfers_due')
      .on('payout_transfers')
      .columns(['rail', 'due_at'])
      .where(sql.ref('due_at'), 'is not', null)
      .where(sql.ref('state'), '<>', sql.lit('QUEUED')),
    schema
      .createIndex('payout_transfers_attention')
      .on('payout_transfers')
      .columns(['merchant_id', 'updated_at', 'order_id'])
      .where(sql.ref('state'), '=', sql.lit('ATTENTION')),
    clusteredTable(
      schema
        .createTable('rail_routes')
        // `*` matches any value.
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
    clusteredTable(
      schema
        .createTable('rail_reports')
        .addColumn('rail', 'text', (c) => c.notNull())
        .addColumn('message_id', 'text', (c) => c.notNull())
        .addColumn('body', 'text', (c) => c.notNull())
        .addColumn('received_at', timestamp, (c) => c.notNull())
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
