import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The cursor is the number of the last event that a merchant's payout statistics include. For existing merchants the
// cursor starts at 0, and a background job adds their earlier events to the statistics.
export const statisticsCursors: Migration = {
  name: '0049-statistics-cursors',
  statements: (schema, { uuid, clusteredTable, raw }) => [
    clusteredTable(
      schema
        .createTable('statistics_cursors')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('through', 'integer', (c) => c.notNull())
        .addPrimaryKeyConstraint('statistics_cursors_key', ['merchant_id'])
        .addForeignKeyConstraint('statistics_cursors_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
    raw(sql`insert into statistics_cursors (merchant_id, through) select id, 0 from merchants`),
  ],
}
