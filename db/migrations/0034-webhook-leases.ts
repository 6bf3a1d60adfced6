import type { Migration } from '../../src/database/migration.ts'

// Until the time `until` (milliseconds since 1970), only the process `holder` sends webhooks of the merchant.
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
