import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const webhookEndpoints: Migration = {
  name: '0032-webhook-endpoints',
  statements: (schema, { uuid, timestamp, json, table }) => [
    table(
      schema
        .createTable('webhook_endpoints')
        .addColumn('merchant_id', uuid, (c) => c.notNull().references('merchants.id'))
        .addColumn('id', uuid, (c) => c.notNull())
        .addColumn('sequence', 'integer', (c) => c.notNull())
        .addColumn('url', 'text', (c) => c.notNull())
        // If the list of event types is empty, the endpoint is subscribed to all event types.
        .addColumn('types', json, (c) => c.notNull())
        .addColumn('format', 'text', (c) => c.notNull().check(sql`format in ('standard', 'thin', 'stablestack')`))
        .addColumn('description', 'text')
        .addColumn('status', 'text', (c) => c.notNull().check(sql`status in ('enabled', 'disabled')`))
        .addColumn('disabled_reason', 'text', (c) => c.check(sql`disabled_reason in ('by_request', 'failing', 'gone')`))
        // Encrypted signing secrets with their expiry times, newest first.
        .addColumn('secrets', json, (c) => c.notNull())
        // The keys for asymmetric signatures are encrypted like `secrets`.
        .addColumn('signing_keys', json, (c) => c.notNull())
        .addColumn('public_key', 'text')
        // The cursor is the sequence number of the last event that the service tried to deliver to the endpoint.
        .addColumn('cursor', 'integer', (c) => c.notNull())
        .addColumn('failures', 'integer', (c) => c.notNull())
        .addColumn('failing_since', timestamp)
        .addColumn('probe_at', timestamp)
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addColumn('updated_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('webhook_endpoints_key', ['merchant_id', 'id']),
    ),
    schema
      .createIndex('webhook_endpoints_by_sequence')
      .unique()
      .on('webhook_endpoints')
      .columns(['merchant_id', 'sequence']),
  ],
}
