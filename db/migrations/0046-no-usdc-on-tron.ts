import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// Circle ended USDC on Tron (announced on 20 February 2024), so USDC sent there can't be redeemed. The migration
// removes the shipped row by its id: a row that an operator added has another id and stays. Existing wallets and
// methods keep the pair.
export const noUsdcOnTron: Migration = {
  name: '0046-no-usdc-on-tron',
  statements: (_schema, { raw }) => [
    raw(sql`delete from asset_networks where id = '019b7679-7400-7000-8000-000000000014'`),
  ],
}
