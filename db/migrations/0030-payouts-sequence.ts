import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// A payout must lock the sequence of its merchant before it locks a wallet, otherwise two processes could deadlock.
// Therefore the sequence must exist before the merchant's first payout.
export const payoutsSequence: Migration = {
  name: '0030-payouts-sequence',
  statements: (_, { raw }) => [
    raw(sql`insert into sequences (merchant_id, name, latest, latest_time)
      select id, 'payouts', 0, 0 from merchants
      where id not in (select merchant_id from sequences where name = 'payouts')`),
  ],
}
