import type { Migration } from '../../src/database/migration.ts'

export const payoutsPayoutMethod: Migration = {
  name: '0019-payouts-payout-method',
  statements: (schema, { uuid }) => [
    // `payout_method_id` has no foreign key, because a payout keeps the id of a deleted payout method.
    schema.alterTable('payouts').addColumn('payout_method_id', uuid),
  ],
}
