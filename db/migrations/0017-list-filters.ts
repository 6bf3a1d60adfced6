import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

const indexes = [
  { table: 'customers', name: 'status', columns: ['status', 'sequence'] },
  { table: 'customers', name: 'type', columns: ['customer_type', 'sequence'] },
  { table: 'customers', name: 'status_and_type', columns: ['status', 'customer_type', 'sequence'] },
  { table: 'wallets', name: 'type', columns: ['asset_type', 'sequence'] },
  { table: 'wallets', name: 'code', columns: ['currency', 'sequence'] },
  // The index also contains the columns of other filters, so that SQLite can apply all filters within the index.
  {
    table: 'payouts',
    name: 'customer',
    columns: ['customer_id', 'sequence', 'status', 'asset_code', 'recipient_currency'],
  },
  { table: 'payouts', name: 'wallet', columns: ['wallet_id', 'sequence', 'status', 'recipient_currency'] },
  { table: 'payouts', name: 'status', columns: ['status', 'sequence', 'asset_code', 'recipient_currency'] },
  { table: 'payouts', name: 'asset', columns: ['asset_code', 'sequence', 'recipient_currency'] },
  { table: 'payouts', name: 'currency', columns: ['recipient_currency', 'sequence'] },
  { table: 'wallet_addresses', name: 'id', columns: ['id'] },
]

// Without planner statistics, SQLite would scan the index of the whole list.
const rows = {
  accounts: { key: [100_000, 1] },
  customers: {
    key: [100_000, 1],
    by_sequence: [100_000, 1],
    by_status: [100_000, 50_000, 1],
    by_type: [100_000, 50_000, 1],
    by_status_and_type: [100_000, 50_000, 25_000, 1],
  },
  wallets: {
    key: [100_000, 1],
    by_sequence: [100_000, 1],
    by_type: [100_000, 50_000, 1],
    by_code: [100_000, 25_000, 1],
    by_owner: [100_000, 100, 1],
    by_asset_type: [100_000, 100, 50, 1],
    by_currency: [100_000, 100, 25, 1],
  },
  payout_methods: {
    key: [100_000, 1],
    by_all: [100_000, 1],
    by_type: [100_000, 50_000, 1],
    by_currency: [100_000, 25_000, 1],
    by_owner: [100_000, 100, 1],
    by_owner_and_type: [100_000, 100, 50, 1],
    by_owner_and_currency: [100_000, 100, 25, 1],
  },
  payouts: {
    key: [100_000, 1],
    by_sequence: [100_000, 1],
    by_idempotency_key: [100_000, 1],
    by_customer: [100_000, 1_000, 1, 1, 1, 1],
    by_wallet: [100_000, 500, 1, 1, 1],
    by_status: [100_000, 25_000, 1, 1, 1],
    by_asset: [100_000, 50_000, 1, 1],
    by_currency: [100_000, 50_000, 1],
  },
}

export const listFilters: Migration = {
  name: '0017-list-filters',
  statements: (schema, { setPlannerStatistics: expectRows }) => [
    ...indexes.map(({ table, name, columns }) =>
      schema
        .createIndex(`${table}_by_${name}`)
        .on(table)
        .columns(['merchant_id', ...columns]),
    ),
    schema
      .createIndex('entries_by_direction')
      .on('entries')
      .columns(['merchant_id', 'account_id', 'direction', 'sequence'])
      .where(sql.ref('sequence'), 'is not', null),
    ...Object.entries(rows).flatMap(([table, byIndex]) => expectRows(table, byIndex)),
  ],
}
