import type { Migration } from '../../src/database/migration.ts'

// The clock of a sandbox merchant can be advanced by a number of milliseconds.
export const merchantClocks: Migration = {
  name: '0036-merchant-clocks',
  statements: (schema, { uuid, amount, clusteredTable }) => [
    clusteredTable(
      schema
        .createTable('merchant_clocks')
        .addColumn('id', uuid, (c) => c.notNull().primaryKey().references('merchants.id'))
        .addColumn('ahead_ms', amount, (c) => c.notNull()),
    ),
  ],
}
