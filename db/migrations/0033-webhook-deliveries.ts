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
        // The retry schedule ignores `attempts_before`, the number of attempts before the latest resend.
        .addColumn('attempts_before', 'integer', (c) => c.notNull())
        // The time of the next attempt is in milliseconds since 1970. The time of the next attempt is NULL if the
        // delivery has ended, or waits for an earlier event of its object.
        .addColumn('next_attempt_at', amount)
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('webhook_deliveries_key', ['merchant_id', 'endpoint_id', 'sequence'])
        // There is no foreign key to the endpoint, so that deleting an endpoint is fast even if it has many deliveries.
        .addForeignKeyConstraint('webhook_deliveries_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
    schema
      .createIndex('webhook_deliveries_pending')
      .on('webhook_deliveries')
      .columns(['merchant_id', 'endpoint_id', 'object_id', 'sequence'])
      .where(sql.ref('status'), '=', sql.lit('pending')),
    // Serves due deliveries.
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
        // The error is set if the webhook endpoint sent no response.
        .addColumn('status', 'integer')
        .addColumn('answer', 'text')
        .addColumn('error', 'text')
        .addPrimaryKeyConstraint('webhook_attempts_key', ['merchant_id', 'endpoint_id', 'sequence', 'attempt'])
        .addForeignKeyConstraint('webhook_attempts_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
  ],
}
