import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const customers: Migration = {
  name: '0009-customers',
  statements: (schema, { uuid, timestamp, table }) => [
    table(
      schema
        .createTable('customers')
        .addColumn('merchant_id', uuid, (c) => c.notNull().references('merchants.id'))
        .addColumn('id', uuid, (c) => c.notNull())
        .addColumn('sequence', 'integer', (c) => c.notNull())
        .addColumn('customer_type', 'text', (c) => c.notNull().check(sql`customer_type in ('individual', 'business')`))
        .addColumn('email', 'text', (c) => c.notNull())
        .addColumn('phone', 'text', (c) => c.notNull())
        .addColumn('status', 'text', (c) => c.notNull().check(sql`status in ('active', 'closed')`))
        .addColumn('address_line1', 'text', (c) => c.notNull())
        .addColumn('address_line2', 'text')
        .addColumn('city', 'text', (c) => c.notNull())
        .addColumn('state', 'text', (c) => c.notNull())
        .addColumn('postal_code', 'text')
        .addColumn('country', 'text', (c) => c.notNull())
        .addColumn('first_name', 'text')
        .addColumn('middle_name', 'text')
        .addColumn('last_name', 'text')
        .addColumn('birth_date', timestamp)
        .addColumn('account_purpose', 'text')
        .addColumn('employment_status', 'text')
        .addColumn('expected_monthly_income', 'text')
        .addColumn('most_recent_occupation', 'text')
        .addColumn('source_of_funds', 'text')
        .addColumn('business_name', 'text')
        .addColumn('business_type', 'text')
        .addColumn('business_website', 'text')
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addColumn('updated_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('customers_key', ['merchant_id', 'id']),
    ),
    schema.createIndex('customers_by_sequence').unique().on('customers').columns(['merchant_id', 'sequence']),
  ],
}
