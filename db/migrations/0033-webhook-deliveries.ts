import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const webhookDeliveries: Migration = {
  name: '0033-webhook-deliveries',
  statements: (schema, { uuid, timestamp, amount, clusteredTable }) => [
    clusteredTable(
      schema
        .createTable('webhook_deliveries')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('endpoint_id', uuid, (c) => c.notNull())
        .addColumn('sequence', 'integer', (c) => c.notNull())
        .addColumn('object_id', uuid, (c) => c.notNull())
        .addColumn('status', 'text', (c) => c.notNull().check(sql`status in ('pending', 'delivered', 'exhausted')`))
        .addColumn('attempts', 'integer', (c) => c.notNull())
        // The retry schedule ignores attempts from before the latest manual resend.
        .addColumn('attempts_before', 'integer', (c) => c.notNull())
        // In milliseconds since 1970. The time of the next attempt is NULL if the delivery has ended, or if an earlier
        // event of the same object must be delivered first.
        .addColumn('next_attempt_at', amount)
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('webhook_deliveries_key', ['merchant_id', 'endpoint_id', 'sequence'])
        // Without a foreign key to the endpoint, deleting an endpoint with many deliveries is fast.
        .addForeignKeyConstraint('webhook_deliveries_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
    schema
      .createIndex('webhook_deliveries_pending')
      .on('webhook_deliveries')
      .columns(['merchant_id', 'endpoint_id', 'object_id', 'sequence'])
      .where(sql.ref('status'), '=', sql.lit('pending')),
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
        // The error is NULL if the webhook endpoint sent a response.
        .addColumn('status', 'integer')
        .addColumn('answer', 'text')
        .addColumn('error', 'text')
        .addPrimaryKeyConstraint('webhook_attempts_key', ['merchant_id', 'endpoint_id', 'sequence', 'attempt'])
        .addForeignKeyConstraint('webhook_attempts_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
  ],
}
