import type { Migration } from '../../src/database/migration.ts'

export const payoutsPayoutMethod: Migration = {
  name: '0019-payouts-payout-method',
  statements: (schema, { uuid }) => [
    // No foreign key: a method may be deleted, and its payouts keep the id.
    schema.alterTable('payouts').addColumn('payout_method_id', uuid),
  ],
}
