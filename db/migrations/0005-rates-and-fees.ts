import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const ratesAndFees: Migration = {
  name: '0005-rates-and-fees',
  statements: (schema, { timestamp, amount, table, appendOnly }) => [
    table(
      schema
        .createTable('rates')
        .addColumn('from_code', 'text', (c) => c.notNull().references('asset_codes.code'))
        .addColumn('to_code', 'text', (c) => c.notNull().references('asset_codes.code'))
        .addColumn('effective_at', timestamp, (c) => c.notNull())
        .addColumn('rate', 'text', (c) => c.notNull())
        .addPrimaryKeyConstraint('rates_key', ['from_code', 'to_code', 'effective_at']),
    ),
    ...appendOnly('rates'),
    table(
      schema
        .createTable('fees')
        .addColumn('asset_code', 'text', (c) => c.notNull().references('asset_codes.code'))
        .addColumn('recipient_currency', 'text', (c) => c.notNull().references('asset_codes.code'))
        .addColumn('effective_at', timestamp, (c) => c.notNull())
        .addColumn('flat', amount, (c) => c.notNull().check(sql`flat >= 0`))
        .addColumn('percent', 'text', (c) => c.notNull())
        .addPrimaryKeyConstraint('fees_key', ['asset_code', 'recipient_currency', 'effective_at']),
    ),
    ...appendOnly('fees'),
  ],
}
