import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// This index serves the list of an endpoint's deliveries that failed or will be retried. Deliveries that succeeded at
// the first attempt are not in the index.
export const undeliveredIndex: Migration = {
  name: '0057-undelivered-index',
  statements: (schema, { setPlannerStatistics }) => [
    schema
      .createIndex('webhook_deliveries_undelivered')
      .on('webhook_deliveries')
      .columns(['merchant_id', 'endpoint_id', 'status', 'sequence'])
      .where(sql.ref('status'), '<>', sql.lit('delivered')),
    // Without planner statistics, SQLite would read all deliveries of the endpoint.
    ...setPlannerStatistics('webhook_deliveries', {
      key: [1_000_000, 200_000, 1],
      undelivered: [100_000, 20_000, 10_000, 1],
    }),
  ],
}
