import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// What became of the events that were sent to an endpoint.
export const webhookDeliveries: Migration = {
  name: '0033-webhook-deliveries',
  statements: (schema, { uuid, timestamp, amount, clusteredTable }) => [
    clusteredTable(
      schema
        .createTable('webhook_deliveries')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('endpoint_id', uuid, (c) => c.notNull())
        // The event's.
        .addColumn('sequence', 'integer', (c) => c.notNull())
        .addColumn('object_id', uuid, (c) => c.notNull())
        .addColumn('status', 'text', (c) => c.notNull().check(sql`status in ('pending', 'delivered', 'exhausted')`))
        .addColumn('attempts', 'integer', (c) => c.notNull())
        // Those of them before it was last asked for again: what is left says how far it is in the schedule.
        .addColumn('attempts_before', 'integer', (c) => c.notNull())
        // When it is tried again, in milliseconds since 1970; NULL when it is over, or waits for an earlier one of its object.
        .addColumn('next_attempt_at', amount)
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('webhook_deliveries_key', ['merchant_id', 'endpoint_id', 'sequence'])
        // Not to the endpoint, which may be deleted at once however long its log is.
        .addForeignKeyConstraint('webhook_deliveries_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
    // Finds what came first of an object.
    schema
      .createIndex('webhook_deliveries_pending')
      .on('webhook_deliveries')
      .columns(['merchant_id', 'endpoint_id', 'object_id', 'sequence'])
      .where(sql.ref('status'), '=', sql.lit('pending')),
    // Finds what is due.
    schema
      .createIndex('webhook_deliveries_due')
      .on('webhook_deliveries')
      .columns(['merchant_id', 'endpoint_id', 'next_attempt_at'])
      .where(sql.ref('status'), '=', sql.lit('pending')),
    clusteredTable(
      schema
        .createTable('webhook_attempts')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('endpoint_id', uuid, (c) => c.notNull())
        .addColumn('sequence', 'integer', (c) => c.notNull())
        .addColumn('attempt', 'integer', (c) => c.notNull())
        .addColumn('attempted_at', timestamp, (c) => c.notNull())
        .addColumn('duration_ms', 'integer', (c) => c.notNull())
        // Of the answer, and the beginning of it; else what went wrong.
        .addColumn('status', 'integer')
        .addColumn('answer', 'text')
        .addColumn('error', 'text')
        .addPrimaryKeyConstraint('webhook_attempts_key', ['merchant_id', 'endpoint_id', 'sequence', 'attempt'])
        // Not to the endpoint, which may be deleted at once however long its log is.
        .addForeignKeyConstraint('webhook_attempts_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
  ],
}
