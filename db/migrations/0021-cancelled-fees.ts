import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const cancelledFees: Migration = {
  name: '0021-cancelled-fees',
  formerName: '0026-cancelled-fees',
  statements: (schema, { timestamp, amount, clusteredTable, raw, writeOnce: changeableOnce }) => [
    clusteredTable(
      schema
        .createTable('fees_with_revisions')
        .addColumn('asset_code', 'text', (c) => c.notNull().references('asset_codes.code'))
        .addColumn('recipient_currency', 'text', (c) => c.notNull().references('asset_codes.code'))
        .addColumn('effective_at', timestamp, (c) => c.notNull())
        .addColumn('revision', 'integer', (c) => c.notNull())
        .addColumn('flat', amount, (c) => c.notNull().check(sql`flat >= 0`))
        .addColumn('percent', 'text', (c) => c.notNull())
        .addColumn('cancelled_at', timestamp)
        .addPrimaryKeyConstraint('fees_by_revision', ['asset_code', 'recipient_currency', 'effective_at', 'revision']),
    ),
    raw(
      sql`insert into fees_with_revisions select asset_code, recipient_currency, effective_at, 1, flat, percent, null from fees`,
    ),
    schema.dropTable('fees'),
    schema.alterTable('fees_with_revisions').renameTo('fees'),
    ...changeableOnce('fees', {
      column: 'cancelled_at',
      others: ['asset_code', 'recipient_currency', 'effective_at', 'revision', 'flat', 'percent'],
    }),
  ],
}
