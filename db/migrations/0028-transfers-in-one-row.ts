import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The migration drops the stored ledger entries. The migration fails if a stored entry differs from the entry that is
// derived from the transfer.
const notOfTheirForm =
  'the ledger has entries that do not follow from their transfers, or none where there should be: run the audit of the version that wrote them'

// The ledger entries of a transfer can be derived from its kind, wallet, amount and fee. Therefore the table `entries`
// is replaced by a view of `transfers`.
export const transfersInOneRow: Migration = {
  name: '0028-transfers-in-one-row',
  rewrites: 'every ledger transfer, whose entries move into its own row',
  statements: (schema, { uuid, timestamp, amount, raw, clusteredTable, appendOnly, view, replaceTable, refuseIf }) => [
    clusteredTable(
      schema
        .createTable('transfers_in_one_row')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('id', uuid, (c) => c.notNull())
        .addColumn('kind', 'text', (c) =>
          c.notNull().check(sql`kind in ('deposit', 'payout', 'payout_completed', 'payout_failed', 'payout_returned')`),
        )
        .addColumn('asset_code', 'text', (c) => c.notNull())
        // The wallet is NULL for a transfer between clearing accounts.
        .addColumn('wallet_id', uuid)
        .addColumn('amount', amount, (c) => c.notNull().check(sql`amount > 0`))
        .addColumn('fee', amount, (c) => c.notNull().check(sql`fee >= 0`))
        .addColumn('sequence', 'integer')
        .addColumn('balance_after', amount, (c) => c.check(sql`balance_after >= 0`))
        .addColumn('payout_id', uuid)
        .addColumn('reference', 'text')
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('transfers_in_one_row_key', ['merchant_id', 'id'])
        .addCheckConstraint('transfers_wallet', sql`(kind = 'payout_completed') = (wallet_id is null)`)
        .addCheckConstraint(
          'transfers_place',
          sql`(wallet_id is null) = (sequence is null) and (wallet_id is null) = (balance_after is null)`,
        )
        .addCheckConstraint('transfers_fee', sql`fee = 0 or kind in ('payout', 'payout_failed', 'payout_returned')`)
        .addForeignKeyConstraint('transfers_wallet_id', ['merchant_id', 'wallet_id'], 'wallets', ['merchant_id', 'id']),
    ),
    raw(sql`insert into transfers_in_one_row
      select t.merchant_id, t.id, t.kind, t.asset_code, cast(w.account_id as ${uuid}),
        coalesce(w.amount, c.amount) - coalesce(f.amount, 0), coalesce(f.amount, 0), w.sequence, w.balance_after,
        t.payout_id, t.reference, t.created_at
      from transfers t
        left join entries w on w.merchant_id = t.merchant_id and w.transfer_id = t.id and w.sequence is not null
        left join entries c on c.merchant_id = t.merchant_id and c.transfer_id = t.id and c.line = 1
        left join entries f on f.merchant_id = t.merchant_id and f.transfer_id = t.id
          and f.account_id = 'fees:' || t.asset_code
      where (w.account_id is null) = (t.kind = 'payout_completed')
        and coalesce(w.amount, c.amount) > coalesce(f.amount, 0)
      order by t.merchant_id, t.id`),
    refuseIf(
      notOfTheirForm,
      sql`select 1 where (select count(*) from transfers) <> (select count(*) from transfers_in_one_row)`,
    ),
    raw(sql`alter table entries rename to entries_before`),
    ...replaceTable('transfers', {
      by: 'transfers_in_one_row',
      referrers: [
        { table: 'payouts', name: 'payouts_transfer', column: 'transfer_id' },
        { table: 'payout_events', name: 'payout_events_transfer', column: 'transfer_id' },
        { table: 'deposits', name: 'deposits_transfer', column: 'transfer_id' },
      ],
      removedReferrers: [{ table: 'entries_before', name: 'entries_transfer' }],
    }),
    ...appendOnly('transfers'),
    view(
      'entries',
      sql`select merchant_id, id as transfer_id,
          case when kind in ('payout_failed', 'payout_returned') and fee > 0 then 3 when kind = 'payout' then 1 else 2 end as line,
          cast(wallet_id as text) as account_id, case kind when 'payout' then 'debit' else 'credit' end as direction,
          amount + fee as amount, sequence, balance_after
        from transfers where wallet_id is not null
        union all
        select merchant_id, id, case kind when 'payout' then 2 else 1 end,
          case kind when 'deposit' then 'deposits' when 'payout_returned' then 'payouts_settled' else 'payouts_in_transit' end
            || ':' || asset_code,
          case kind when 'payout' then 'credit' else 'debit' end, amount, null, null
        from transfers
        union all
        select merchant_id, id, 2, 'payouts_settled:' || asset_code, 'credit', amount, null, null
        from transfers where kind = 'payout_completed'
        union all
        select merchant_id, id, case kind when 'payout' then 3 else 2 end, 'fees:' || asset_code,
          case kind when 'payout' then 'credit' else 'debit' end, fee, null, null
        from transfers where fee > 0`,
    ),
    refuseIf(
      notOfTheirForm,
      sql`select 1 where (select count(*) from entries) <> (select count(*) from entries_before)
        union all
        select 1 from entries e left join entries_before b on b.merchant_id = e.merchant_id
          and b.transfer_id = e.transfer_id and b.line = e.line and b.account_id = e.account_id
          and b.direction = e.direction and b.amount = e.amount and b.sequence is not distinct from e.sequence
          and b.balance_after is not distinct from e.balance_after
        where b.line is null`,
    ),
    raw(sql`drop table entries_before`),
    // This index serves a wallet's statement, and makes `sequence` unique within a wallet.
    schema
      .createIndex('transfers_by_wallet')
      .unique()
      .on('transfers')
      .columns(['merchant_id', 'wallet_id', 'sequence'])
      .where(sql.ref('wallet_id'), 'is not', null),
    // This index serves a wallet's statement filtered by incoming transfers. A filter for outgoing transfers needs no
    // index, because most transfers of a busy wallet are outgoing.
    raw(sql`create index transfers_in on transfers (merchant_id, wallet_id, sequence)
      where wallet_id is not null and kind <> 'payout'`),
    // The balances of clearing accounts are computed from the transfers, so clearing accounts need no rows.
    raw(sql`delete from accounts where kind <> 'wallet'`),
  ],
}
