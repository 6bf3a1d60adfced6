import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

const debits = sql`('deposit_reversal', 'payout')`

// SQLite cannot change a check constraint, so the migration rebuilds the table.
export const openingTransfers: Migration = {
  name: '0055-opening-transfers',
  rewrites: 'every ledger transfer, which may be of one more kind',
  statements: (schema, { uuid, timestamp, amount, raw, clusteredTable, appendOnly, view, replaceTable }) => [
    schema.dropView('entries'),
    clusteredTable(
      schema
        .createTable('transfers_with_openings')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('id', uuid, (c) => c.notNull())
        .addColumn('kind', 'text', (c) =>
          c
            .notNull()
            .check(
              sql`kind in ('opening', 'deposit', 'deposit_reversal', 'payout', 'payout_completed', 'payout_failed', 'payout_returned')`,
            ),
        )
        .addColumn('asset_code', 'text', (c) => c.notNull())
        .addColumn('wallet_id', uuid)
        .addColumn('amount', amount, (c) => c.notNull().check(sql`amount > 0`))
        .addColumn('fee', amount, (c) => c.notNull().check(sql`fee >= 0`))
        .addColumn('sequence', 'integer')
        .addColumn('balance_after', amount, (c) => c.check(sql`balance_after >= 0`))
        .addColumn('payout_id', uuid)
        .addColumn('reference', 'text')
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('transfers_with_openings_key', ['merchant_id', 'id'])
        .addCheckConstraint('transfers_wallet', sql`(kind = 'payout_completed') = (wallet_id is null)`)
        .addCheckConstraint(
          'transfers_place',
          sql`(wallet_id is null) = (sequence is null) and (wallet_id is null) = (balance_after is null)`,
        )
        .addCheckConstraint('transfers_fee', sql`fee = 0 or kind in ('payout', 'payout_failed', 'payout_returned')`)
        .addForeignKeyConstraint('transfers_wallet_id', ['merchant_id', 'wallet_id'], 'wallets', ['merchant_id', 'id']),
    ),
    raw(sql`insert into transfers_with_openings select merchant_id, id, kind, asset_code, wallet_id, amount, fee, sequence,
      balance_after, payout_id, reference, created_at from transfers order by merchant_id, id`),
    ...replaceTable('transfers', {
      by: 'transfers_with_openings',
      referrers: [
        { table: 'payouts', name: 'payouts_transfer', column: 'transfer_id' },
        { table: 'payout_events', name: 'payout_events_transfer', column: 'transfer_id' },
        { table: 'deposits', name: 'deposits_transfer', column: 'transfer_id' },
        { table: 'deposit_reversals', name: 'deposit_reversals_transfer', column: 'transfer_id' },
      ],
      removedReferrers: [],
    }),
    ...appendOnly('transfers'),
    view(
      'entries',
      sql`select merchant_id, id as transfer_id,
          case when kind in ('payout_failed', 'payout_returned') and fee > 0 then 3 when kind in ${debits} then 1 else 2 end as line,
          cast(wallet_id as text) as account_id, case when kind in ${debits} then 'debit' else 'credit' end as direction,
          amount + fee as amount, sequence, balance_after
        from transfers where wallet_id is not null
        union all
        select merchant_id, id, case when kind in ${debits} then 2 else 1 end,
          case when kind = 'opening' then 'openings' when kind in ('deposit', 'deposit_reversal') then 'deposits'
            when kind = 'payout_returned' then 'payouts_settled'
            else 'payouts_in_transit' end || ':' || asset_code,
          case when kind in ${debits} then 'credit' else 'debit' end, amount, null, null
        from transfers
        union all
        select merchant_id, id, 2, 'payouts_settled:' || asset_code, 'credit', amount, null, null
        from transfers where kind = 'payout_completed'
        union all
        select merchant_id, id, case kind when 'payout' then 3 else 2 end, 'fees:' || asset_code,
          case kind when 'payout' then 'credit' else 'debit' end, fee, null, null
        from transfers where fee > 0`,
    ),
    schema
      .createIndex('transfers_by_wallet')
      .unique()
      .on('transfers')
      .columns(['merchant_id', 'wallet_id', 'sequence'])
      .where(sql.ref('wallet_id'), 'is not', null),
    raw(sql`create index transfers_in on transfers (merchant_id, wallet_id, sequence)
      where wallet_id is not null and kind not in ${debits}`),
  ],
}
