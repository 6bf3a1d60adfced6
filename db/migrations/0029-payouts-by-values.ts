import type { Migration } from '../../src/database/migration.ts'

// One index in the place of three: its columns have few values, so a list that is narrowed by any of them is merged from at
// most eight of its ranges, each of which is in order.
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
