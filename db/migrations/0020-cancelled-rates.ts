import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const cancelledRates: Migration = {
  name: '0020-cancelled-rates',
  formerName: '0025-cancelled-rates',
  statements: (schema, { timestamp, clusteredTable, raw, writeOnce: changeableOnce }) => [
    clusteredTable(
      schema
        .createTable('rates_with_revisions')
        .addColumn('from_code', 'text', (c) => c.notNull().references('asset_codes.code'))
        .addColumn('to_code', 'text', (c) => c.notNull().references('asset_codes.code'))
        .addColumn('effective_at', timestamp, (c) => c.notNull())
        .addColumn('revision', 'integer', (c) => c.notNull())
        .addColumn('rate', 'text', (c) => c.notNull())
        .addColumn('cancelled_at', timestamp)
        .addPrimaryKeyConstraint('rates_by_revision', ['from_code', 'to_code', 'effective_at', 'revision']),
    ),
    raw(sql`insert into rates_with_revisions select from_code, to_code, effective_at, 1, rate, null from rates`),
    schema.dropTable('rates'),
    schema.alterTable('rates_with_revisions').renameTo('rates'),
    ...changeableOnce('rates', {
      column: 'cancelled_at',
      others: ['from_code', 'to_code', 'effective_at', 'revision', 'rate'],
    }),
  ],
}
