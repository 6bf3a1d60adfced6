import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const searchIndexes: Migration = {
  name: '0053-search-indexes',
  statements: (schema, { setPlannerStatistics: expectRows }) => [
    schema
      .createIndex('payouts_by_account_number')
      .on('payouts')
      .columns(['merchant_id', 'account_number', 'sequence']),
    // Most rails report no reference.
    schema
      .createIndex('payouts_by_fiat_reference')
      .on('payouts')
      .columns(['merchant_id', 'fiat_reference_id', 'sequence'])
      .where(sql.ref('fiat_reference_id'), 'is not', null),
    ...expectRows('payouts', { by_account_number: [100_000, 10, 1], by_fiat_reference: [100_000, 1, 1] }),
    ...['account_number', 'iban', 'wallet_address'].map((column) =>
      schema
        .createIndex(`payout_methods_by_${column}`)
        .on('payout_methods')
        .columns(['merchant_id', column, 'sequence'])
        .where(sql.ref(column), 'is not', null),
    ),
  ],
}
