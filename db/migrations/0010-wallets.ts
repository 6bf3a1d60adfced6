import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const wallets: Migration = {
  name: '0010-wallets',
  statements: (schema, { uuid, timestamp, referenceToText, table }) => [
    table(
      schema
        .createTable('wallets')
        .addColumn('merchant_id', uuid, (c) => c.notNull().references('merchants.id'))
        .addColumn('id', uuid, (c) => c.notNull())
        .addColumn('customer_id', uuid)
        .addColumn('owner_id', uuid, (c) =>
          c.generatedAlwaysAs(sql`coalesce(customer_id, merchant_id)`).stored().notNull(),
        )
        .addColumn('sequence', 'integer', (c) => c.notNull())
        .addColumn('owner_sequence', 'integer', (c) => c.notNull())
        .addColumn('asset_type', 'text', (c) => c.notNull().check(sql`asset_type in ('FIAT', 'STABLECOIN')`))
        .addColumn('currency', 'text', (c) => c.notNull().references('asset_codes.code'))
        .addColumn('description', 'text', (c) => c.notNull())
        .addColumn('status', 'text', (c) => c.notNull().check(sql`status in ('active')`))
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addColumn('updated_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('wallets_key', ['merchant_id', 'id'])
        .addForeignKeyConstraint('wallets_customer', ['merchant_id', 'customer_id'], 'customers', ['merchant_id', 'id'])
        .$call((wallets) => referenceToText(wallets, { name: 'wallets_account', column: 'id', target: 'accounts' })),
    ),
    schema.createIndex('wallets_by_sequence').unique().on('wallets').columns(['merchant_id', 'sequence']),
    schema
      .createIndex('wallets_by_owner')
      .unique()
      .on('wallets')
      .columns(['merchant_id', 'owner_id', 'owner_sequence']),
    schema
      .createIndex('wallets_by_asset_type')
      .on('wallets')
      .columns(['merchant_id', 'owner_id', 'asset_type', 'owner_sequence']),
    schema
      .createIndex('wallets_by_currency')
      .on('wallets')
      .columns(['merchant_id', 'owner_id', 'currency', 'owner_sequence']),
  ],
}
