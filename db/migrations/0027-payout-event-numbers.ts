import type { Migration } from '../../src/database/migration.ts'

// Clients poll payout events by sequence number, so sequence numbers have no gaps and are in commit order. Payout
// events that were created before this migration have no sequence number.
export const payoutEventNumbers: Migration = {
  name: '0027-payout-event-numbers',
  statements: (schema) => [
    schema.alterTable('payout_events').addColumn('sequence', 'integer'),
    schema.createIndex('payout_events_sequence').on('payout_events').columns(['merchant_id', 'sequence']).unique(),
  ],
}
