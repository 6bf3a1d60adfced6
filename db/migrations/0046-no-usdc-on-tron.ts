import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// Circle ended USDC on Tron (announced on 20 February 2024), so what is sent to such an address can't be redeemed. The pair is known by
// the id that was shipped: a row that an operator added has another id, and stays. Wallets and methods that have it keep it.
export const noUsdcOnTron: Migration = {
  name: '0046-no-usdc-on-tron',
  statements: (_schema, { raw }) => [
    raw(sql`delete from asset_networks where id = '019b7679-7400-7000-8000-000000000014'`),
  ],
}
