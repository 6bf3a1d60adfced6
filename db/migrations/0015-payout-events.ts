import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The primary key ensures that each payout reaches a status at most once.
export const payoutEvents: Migration = {
  name: '0015-payout-events',
  statements: (schema, { uuid, timestamp, clusteredTable, appendOnly }) => [
    clusteredTable(
      schema
        .createTable('payout_events')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('payout_id', uuid, (c) => c.notNull())
        .addColumn('status', 'text', (c) => c.notNull().check(sql`status in ('COMPLETED', 'FAILED', 'RETURNED')`))
        .addColumn('cause', 'text')
        .addColumn('transfer_id', uuid, (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('payout_events_key', ['merchant_id', 'payout_id', 'status'])
        .addForeignKeyConstraint('payout_events_payout', ['merchant_id', 'payout_id'], 'payouts', ['merchant_id', 'id'])
        .addForeignKeyConstraint('payout_events_transfer', ['merchant_id', 'transfer_id'], 'transfers', [
          'merchant_id',
          'id',
        ]),
    ),
    ...appendOnly('payout_events'),
  ],
}
