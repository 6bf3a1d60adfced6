import type { Migration } from '../../src/database/migration.ts'

// A client that polls payout events continues from this gapless number, which is in commit order. Earlier payout events
// have no number.
export const payoutEventNumbers: Migration = {
  name: '0027-payout-event-numbers',
  statements: (schema) => [
    schema.alterTable('payout_events').addColumn('sequence', 'integer'),
    schema.createIndex('payout_events_sequence').on('payout_events').columns(['merchant_id', 'sequence']).unique(),
  ],
}
