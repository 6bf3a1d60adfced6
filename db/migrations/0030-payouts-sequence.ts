import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// Creates each merchant's payout sequence in advance, so that every payout can lock it first. If a merchant's first
// payout created the sequence after locking a wallet, two processes could deadlock.
export const payoutsSequence: Migration = {
  name: '0030-payouts-sequence',
  statements: (_, { raw }) => [
    raw(sql`insert into sequences (merchant_id, name, latest, latest_time)
      select id, 'payouts', 0, 0 from merchants
      where id not in (select merchant_id from sequences where name = 'payouts')`),
  ],
}
