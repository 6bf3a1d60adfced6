import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// An imported row keeps its original creation time, so a list with imported rows is not in the order of creation times.
// Lists with imported rows therefore need a different query for time filters. Imported deposit addresses belong to the
// original provider.
export const importedRows: Migration = {
  name: '0056-imported-rows',
  statements: (schema) => [
    schema
      .alterTable('sequences')
      .addColumn('is_sorted', 'integer', (c) => c.notNull().defaultTo(1).check(sql`is_sorted in (0, 1)`)),
    schema
      .alterTable('wallet_addresses')
      .addColumn('custody', 'text', (c) => c.notNull().defaultTo('own').check(sql`custody in ('own', 'external')`)),
  ],
}
