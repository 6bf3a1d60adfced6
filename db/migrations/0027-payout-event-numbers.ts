import type { Migration } from '../../src/database/migration.ts'

// The number of an event among the merchant's, dense and in the order of their commits: whoever watches asks for what came
// after the last one that it saw. Events from before have none, and nobody asks for them so.
export const payoutEventNumbers: Migration = {
  name: '0027-payout-event-numbers',
  statements: (schema) => [
    schema.alterTable('payout_events').addColumn('sequence', 'integer'),
    schema.createIndex('payout_events_sequence').on('payout_events').columns(['merchant_id', 'sequence']).unique(),
  ],
}
