import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const payoutMethods: Migration = {
  name: '0013-payout-methods',
  statements: (schema, { uuid, timestamp, json, table }) => [
    table(
      schema
        .createTable('payout_methods')
        .addColumn('merchant_id', uuid, (c) => c.notNull().references('merchants.id'))
        .addColumn('id', uuid, (c) => c.notNull())
        .addColumn('customer_id', uuid)
        .addColumn('owner_id', uuid, (c) =>
          c.generatedAlwaysAs(sql`coalesce(customer_id, merchant_id)`).stored().notNull(),
        )
        .addColumn('sequence', 'integer', (c) => c.notNull())
        .addColumn('owner_sequence', 'integer', (c) => c.notNull())
        .addColumn('type', 'text', (c) => c.notNull().check(sql`type in ('BANK', 'WALLET')`))
        .addColumn('currency', 'text', (c) => c.notNull().references('asset_codes.code'))
        .addColumn('account_name', 'text')
        .addColumn('account_number', 'text')
        .addColumn('bank_name', 'text')
        .addColumn('bank_code', 'text')
        .addColumn('sort_code', 'text')
        .addColumn('swift_code', 'text')
        .addColumn('routing_number', 'text')
        .addColumn('iban', 'text')
        .addColumn('label', 'text')
        .addColumn('wallet_address', 'text')
        .addColumn('network', 'text')
        .addColumn('checks', json, (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addColumn('updated_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('payout_methods_key', ['merchant_id', 'id'])
        .addForeignKeyConstraint('payout_methods_customer', ['merchant_id', 'customer_id'], 'customers', [
          'merchant_id',
          'id',
        ])
        .addCheckConstraint(
          'payout_methods_kind',
          sql`case type
            when 'BANK' then account_name is not null and account_number is not null and bank_name is not null
              and bank_code is not null and wallet_address is null
            else wallet_address is not null and network is not null and account_number is null end`,
        ),
    ),
    // A payout method's currency determines its type, so no index needs both columns.
    ...[
      { name: 'all', columns: ['sequence'], isUnique: true },
      { name: 'type', columns: ['type', 'sequence'], isUnique: false },
      { name: 'currency', columns: ['currency', 'sequence'], isUnique: false },
      { name: 'owner', columns: ['owner_id', 'owner_sequence'], isUnique: true },
      { name: 'owner_and_type', columns: ['owner_id', 'type', 'owner_sequence'], isUnique: false },
      { name: 'owner_and_currency', columns: ['owner_id', 'currency', 'owner_sequence'], isUnique: false },
    ].map(({ name, columns, isUnique }) => {
      const index = schema
        .createIndex(`payout_methods_by_${name}`)
        .on('payout_methods')
        .columns(['merchant_id', ...columns])
      return isUnique ? index.unique() : index
    }),
  ],
}
