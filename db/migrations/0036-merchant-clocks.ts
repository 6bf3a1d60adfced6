import type { Migration } from '../../src/database/migration.ts'

// How far merchants' clocks in the sandbox are ahead of the machine's, in milliseconds: of those that were moved on.
export const merchantClocks: Migration = {
  name: '0036-merchant-clocks',
  statements: (schema, { uuid, amount, clusteredTable }) => [
    clusteredTable(
      schema
        .createTable('merchant_clocks')
        // The merchant's own.
        .addColumn('id', uuid, (c) => c.notNull().primaryKey().references('merchants.id'))
        .addColumn('ahead_ms', amount, (c) => c.notNull()),
    ),
  ],
}
