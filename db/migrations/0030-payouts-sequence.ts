import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// Every merchant has the sequence of its payouts from the start: a row that is there can be held before anything else is, where
// the first payout would make it after its wallet, and two processes could wait for one another.
export const payoutsSequence: Migration = {
  name: '0030-payouts-sequence',
  statements: (_, { raw }) => [
    raw(sql`insert into sequences (merchant_id, name, latest, latest_time)
      select id, 'payouts', 0, 0 from merchants
      where id not in (select merchant_id from sequences where name = 'payouts')`),
  ],
}
