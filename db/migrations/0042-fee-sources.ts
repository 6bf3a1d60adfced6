import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// Earlier versions added the fee to the amount that a wallet pays. Fees that exist before this migration therefore get
// the source "balance".
export const feeSources: Migration = {
  name: '0042-fee-sources',
  statements: (schema) => [
    schema
      .alterTable('fees')
      .addColumn('deducted_from', 'text', (c) =>
        c.notNull().defaultTo('BALANCE').check(sql`deducted_from in ('AMOUNT', 'BALANCE')`),
      ),
    schema
      .alterTable('payouts')
      .addColumn('fee_deducted_from', 'text', (c) =>
        c.check(sql`fee_deducted_from is null or fee_deducted_from in ('AMOUNT', 'BALANCE') and fee is not null`),
      ),
  ],
}
