import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The new columns of `transfers` remove a join from the query for a wallet's statement.
export const transferCauses: Migration = {
  name: '0018-transfer-causes',
  statements: (schema, { uuid, raw, appendOnly, dropAppendOnly: changeable }) => [
    schema.alterTable('transfers').addColumn('payout_id', uuid),
    schema.alterTable('transfers').addColumn('reference', 'text'),
    ...changeable('transfers'),
    raw(sql`update transfers set payout_id = payouts.id from payouts
      where payouts.merchant_id = transfers.merchant_id and payouts.transfer_id = transfers.id`),
    raw(sql`update transfers set payout_id = payout_events.payout_id from payout_events
      where payout_events.merchant_id = transfers.merchant_id and payout_events.transfer_id = transfers.id`),
    raw(sql`update transfers set reference = deposits.reference from deposits
      where deposits.merchant_id = transfers.merchant_id and deposits.transfer_id = transfers.id`),
    ...appendOnly('transfers'),
  ],
}
