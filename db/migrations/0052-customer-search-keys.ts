import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The search keys are case-folded names, e-mail addresses and phone numbers of customers. Search keys have their own
// table, because row-level security prevents the use of an index on lower(…). The migration folds only the ASCII
// letters of existing names, so a search also tries ASCII folding.
export const customerSearchKeys: Migration = {
  name: '0052-customer-search-keys',
  statements: (schema, { uuid, binaryText, clusteredTable, raw }) => [
    clusteredTable(
      schema
        .createTable('customer_search_keys')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('kind', 'text', (c) => c.notNull().check(sql`kind in ('name', 'email', 'phone')`))
        // Search keys are compared by bytes, so that keys with the same prefix are adjacent in the index.
        .addColumn('key', binaryText, (c) => c.notNull())
        .addColumn('customer_id', uuid, (c) => c.notNull())
        .addPrimaryKeyConstraint('customer_search_keys_key', ['merchant_id', 'kind', 'key', 'customer_id'])
        .addForeignKeyConstraint('customer_search_keys_customer', ['merchant_id', 'customer_id'], 'customers', [
          'merchant_id',
          'id',
        ]),
    ),
    ...existingKeys.map(({ kind, from, where = sql`1 = 1` }) =>
      raw(sql`insert into customer_search_keys (merchant_id, kind, key, customer_id)
        select merchant_id, ${sql.lit(kind)}, lower(${from}), id from customers where ${where}
        on conflict do nothing`),
    ),
  ],
}

const existingKeys = [
  { kind: 'email', from: sql`email` },
  { kind: 'phone', from: sql`phone` },
  {
    kind: 'name',
    from: sql`coalesce(first_name || ' ' || last_name, first_name, last_name)`,
    where: sql`coalesce(first_name, last_name) is not null`,
  },
  { kind: 'name', from: sql`last_name`, where: sql`last_name is not null` },
  { kind: 'name', from: sql`business_name`, where: sql`business_name is not null` },
]
