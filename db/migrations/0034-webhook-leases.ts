import type { Migration } from '../../src/database/migration.ts'

// Leases, for processes that share a database. `holder` sends the webhooks of a merchant until the time `until`, in
// milliseconds since 1970, and can renew the lease.
export const webhookLeases: Migration = {
  name: '0034-webhook-leases',
  statements: (schema, { uuid, amount, clusteredTable }) => [
    clusteredTable(
      schema
        .createTable('webhook_leases')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('holder', 'text', (c) => c.notNull())
        .addColumn('until', amount, (c) => c.notNull())
        .addPrimaryKeyConstraint('webhook_leases_key', ['merchant_id'])
        .addForeignKeyConstraint('webhook_leases_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
  ],
}
