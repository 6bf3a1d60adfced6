import type { Migration } from '../../src/database/migration.ts'

// Each filter column has few distinct values. A query with one filter therefore merges at most eight sorted index
// ranges.
export const payoutsByValues: Migration = {
  name: '0029-payouts-by-values',
  statements: (schema, { setPlannerStatistics: expectRows }) => [
    schema
      .createIndex('payouts_by_values')
      .on('payouts')
      .columns(['merchant_id', 'status', 'asset_code', 'recipient_currency', 'sequence']),
    ...['status', 'asset', 'currency'].map((name) => schema.dropIndex(`payouts_by_${name}`)),
    ...expectRows('payouts', { by_values: [100_000, 25_000, 12_500, 6_250, 1] }),
  ],
}
