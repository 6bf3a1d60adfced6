import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// Circle ended USDC on Tron (announced on 20 February 2024), so USDC on Tron cannot be redeemed. The migration deletes
// the row for USDC on Tron that an earlier version created. The migration keeps existing wallets and payout methods,
// and rows that an operator added.
export const noUsdcOnTron: Migration = {
  name: '0046-no-usdc-on-tron',
  formerName: '0049-no-usdc-on-tron',
  statements: (_schema, { raw }) => [
    raw(sql`delete from asset_networks where id = '019b7679-7400-7000-8000-000000000014'`),
  ],
}
