import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

const lists = ['customers', 'wallets', 'payout_methods', 'payouts']

// Creation times must not decrease within a list, although the clocks of the processes differ. Therefore `sequences`
// stores the creation time of the latest row.
export const latestTimes: Migration = {
  name: '0022-latest-times',
  statements: (schema, { uuid, amount, raw, milliseconds }) => [
    schema.alterTable('sequences').addColumn('latest_time', amount, (c) => c.notNull().defaultTo(0)),
    schema.alterTable('sequences').addColumn('latest_id', uuid),
    ...lists.map((list) =>
      raw(sql`update sequences set latest_time = coalesce((
          select ${milliseconds(sql.ref('created_at'))} from ${sql.table(list)} as listed
          where listed.merchant_id = sequences.merchant_id order by listed.sequence desc limit 1
        ), 0) where name = ${sql.lit(list)}`),
    ),
    schema.alterTable('accounts').addColumn('latest_time', amount, (c) => c.notNull().defaultTo(0)),
    raw(sql`update accounts set latest_time = coalesce((
        select ${milliseconds(sql.ref('transfers.created_at'))} from entries join transfers
          on transfers.merchant_id = entries.merchant_id and transfers.id = entries.transfer_id
        where entries.merchant_id = accounts.merchant_id and entries.account_id = accounts.id
          and entries.sequence = accounts.entry_count
      ), 0) where kind = 'wallet'`),
  ],
}
