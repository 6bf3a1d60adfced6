import { sql } from 'kysely'
import type { Params } from '../database/query.ts'
import { from, query } from '../database/query.ts'

/**
 * Each query finds what contradicts itself, over all merchants; nothing found means that the books are right. An
 * operator's view: it reads whole tables, and no request runs it.
 */

const signed = sql<bigint>`case direction when 'credit' then amount else -amount end`

/** Transfers whose debits and credits differ, or that have no entries at all. */
export const unbalancedTransfers = query(() =>
  from('transfers')
    .leftJoin('entries', (join) =>
      join.onRef('entries.merchantId', '=', 'transfers.merchantId').onRef('entries.transferId', '=', 'transfers.id'),
    )
    .select('transfers.id')
    .groupBy(['transfers.merchantId', 'transfers.id'])
    .having(sql<boolean>`coalesce(sum(${signed}), 1) <> 0`),
)

/** Entries of another asset than their account's. */
export const entriesOfAnotherAsset = query(() =>
  from('entries')
    .innerJoin('transfers', (join) =>
      join.onRef('transfers.merchantId', '=', 'entries.merchantId').onRef('transfers.id', '=', 'entries.transferId'),
    )
    .innerJoin('accounts', (join) =>
      join.onRef('accounts.merchantId', '=', 'entries.merchantId').onRef('accounts.id', '=', 'entries.accountId'),
    )
    .select('entries.transferId as id')
    .whereRef('accounts.assetCode', '<>', 'transfers.assetCode'),
)

/** Wallet accounts whose balance or number of entries is not what their entries say. */
export const wrongBalances = query(() =>
  from('accounts')
    .leftJoin(
      from('entries')
        .select(['merchantId', 'accountId'])
        .select([
          sql<bigint>`sum(${signed})`.as('total'),
          sql<bigint>`count(*)`.as('entries'),
          sql<bigint>`max(sequence)`.as('latest'),
        ])
        .where('sequence', 'is not', null)
        .groupBy(['merchantId', 'accountId'])
        .as('sums'),
      (join) => join.onRef('sums.merchantId', '=', 'accounts.merchantId').onRef('sums.accountId', '=', 'accounts.id'),
    )
    .select('accounts.id')
    .where('accounts.kind', '=', 'wallet')
    .where(
      sql<boolean>`accounts.balance <> coalesce(sums.total, 0) or accounts.entry_count <> coalesce(sums.entries, 0)
        or accounts.entry_count <> coalesce(sums.latest, 0)`,
    ),
)

/** Entries of wallet accounts whose balance after them is not the sum up to there. */
export const wrongRunningBalances = query(() =>
  from(
    from('entries')
      .select(['transferId', 'balanceAfter'])
      .select(sql<bigint>`sum(${signed}) over (partition by merchant_id, account_id order by sequence)`.as('running'))
      .where('sequence', 'is not', null)
      .as('statement'),
  )
    .select('statement.transferId as id')
    .whereRef('statement.balanceAfter', '<>', 'statement.running'),
)

/** Payouts whose wallet was not debited by exactly amount and fee, leaving the balance that the payout says. */
export const payoutsWithoutDebit = query(() =>
  from('payouts')
    .leftJoin('entries', (join) =>
      join
        .onRef('entries.merchantId', '=', 'payouts.merchantId')
        .onRef('entries.transferId', '=', 'payouts.transferId')
        .onRef('entries.accountId', '=', 'payouts.walletId')
        .on('entries.direction', '=', 'debit')
        .on(sql<boolean>`entries.amount = payouts.amount + coalesce(payouts.fee, 0)`)
        .onRef('entries.balanceAfter', '=', 'payouts.balanceAfter'),
    )
    .select('payouts.id')
    .where('entries.line', 'is', null),
)

/** Transfers of payouts and deposits that no payout or deposit names. */
export const orphanedTransfers = query(() =>
  from('transfers')
    .select('id')
    .where('kind', 'in', ['payout', 'deposit'])
    .where(
      sql<boolean>`(merchant_id, id) not in (select merchant_id, transfer_id from payouts union all
        select merchant_id, transfer_id from deposits)`,
    ),
)

/** Payouts whose status is not what their events lead to. */
export const payoutsWithoutEvents = query(() =>
  from('payouts')
    .leftJoin(
      from('payoutEvents')
        .select(['merchantId', 'payoutId'])
        .select(sql<string>`min(status) || '/' || count(*)`.as('path'))
        .groupBy(['merchantId', 'payoutId'])
        .as('events'),
      (join) => join.onRef('events.merchantId', '=', 'payouts.merchantId').onRef('events.payoutId', '=', 'payouts.id'),
    )
    .select('payouts.id')
    .where(
      sql<boolean>`coalesce(events.path, '') <> case payouts.status when 'PROCESSING' then ''
        when 'COMPLETED' then 'COMPLETED/1' when 'FAILED' then 'FAILED/1' else 'COMPLETED/2' end`,
    ),
)

/** Merchants and assets whose payouts in transit are not the sum of their payouts in `PROCESSING`. */
export const wrongInTransit = query(() =>
  from(
    sql<{ id: string }>`(select merchant_id || ' ' || asset_code as id, sum(amount) as difference from (
      select merchant_id, asset_code, amount from payouts where status = 'PROCESSING'
      union all
      select e.merchant_id, t.asset_code, case e.direction when 'debit' then e.amount else -e.amount end
      from entries e join transfers t on t.merchant_id = e.merchant_id and t.id = e.transfer_id
      where e.account_id like 'payouts_in_transit:%'
    ) as both group by merchant_id, asset_code having sum(amount) <> 0)`.as('differences'),
  ).select('differences.id'),
)

/** Sequences that are not dense, or that are not as long as their table has rows. */
export const brokenSequences = query(() =>
  from(
    sql<{ id: string }>`(select s.merchant_id || ' ' || s.name as id from sequences s
      left join (
        select merchant_id, 'payouts' as name, count(*) as total, max(sequence) as latest from payouts group by merchant_id
        union all
        select merchant_id, 'customers', count(*), max(sequence) from customers group by merchant_id
        union all
        select merchant_id, 'wallets', count(*), max(sequence) from wallets group by merchant_id
      ) as counted on counted.merchant_id = s.merchant_id and counted.name = s.name
      where s.name in ('payouts', 'customers', 'wallets')
        and (coalesce(counted.total, 0) <> s.latest or coalesce(counted.latest, 0) <> s.latest))`.as('broken'),
  ).select('broken.id'),
)

/** Maintained counts that are not what counting gives, for blocks of one size. */
export const wrongListCounts = query((p: Params<{ blockSize: number; divisor: number }>) =>
  from(
    sql<{ id: string }>`(select list as id from (
      select merchant_id, list, sequence / ${p.divisor} as block, count(*) as difference from (
        select merchant_id, 'payout_methods' as list, sequence from payout_methods
        union all select merchant_id, 'payout_methods/type:' || type, sequence from payout_methods
        union all select merchant_id, 'payout_methods/currency:' || currency, sequence from payout_methods
        union all select merchant_id, 'payout_methods/owner:' || owner_id, owner_sequence from payout_methods
        union all select merchant_id, 'payout_methods/owner:' || owner_id || '/type:' || type, owner_sequence
          from payout_methods
        union all select merchant_id, 'payout_methods/owner:' || owner_id || '/currency:' || currency, owner_sequence
          from payout_methods
        union all select merchant_id, 'wallets/owner:' || owner_id, owner_sequence from wallets
        union all select merchant_id, 'wallets/owner:' || owner_id || '/type:' || asset_type, owner_sequence from wallets
        union all select merchant_id, 'wallets/owner:' || owner_id || '/currency:' || currency, owner_sequence
          from wallets
      ) as listed group by merchant_id, list, block
      union all
      select merchant_id, list, block, -row_count from list_counts where block_size = ${p.blockSize}
    ) as compared group by merchant_id, list, block having sum(difference) <> 0)`.as('wrong'),
  ).select('wrong.id'),
)

/** What wallets hold of each asset; whole units and the rest apart, so that no sum leaves 64 bits. */
export const walletTotals = query(() =>
  from('accounts')
    .select('assetCode')
    .select([sql<bigint>`sum(balance / 100000000)`.as('units'), sql<bigint>`sum(balance % 100000000)`.as('rest')])
    .where('kind', '=', 'wallet')
    .groupBy('assetCode')
    .orderBy('assetCode'),
)

/** How many transfers, entries and payouts there are. */
export const bookSizes = query(() =>
  from(
    sql<{ transfers: bigint; entries: bigint; payouts: bigint }>`(select
      (select count(*) from transfers) as transfers, (select count(*) from entries) as entries,
      (select count(*) from payouts) as payouts)`.as('sizes'),
  ).selectAll(),
)
