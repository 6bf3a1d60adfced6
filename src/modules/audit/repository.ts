import type { Compilable, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import { acrossMerchants, query, scanTable, selectFrom } from '../../database/query.ts'
import type { RowOf, TableName } from '../../database/tables.ts'

/** Audit queries read whole tables, so no API request runs them. */

const balanceChange = sql<bigint>`case when kind in ('deposit_reversal', 'payout') then -(amount + fee) else amount + fee end`

const queryAllMerchants = <Found>(build: () => Compilable<Found>) => query(() => acrossMerchants(build()))

const queryIdsOfAllMerchants = (select: RawBuilder<unknown>) =>
  queryAllMerchants(() => selectFrom(sql<{ id: string }>`(${select})`.as('wrong')).select('wrong.id'))

/** The payout's amount, minus the fee if the fee is deducted from the amount. */
const netAmount = sql<bigint>`payouts.amount - case payouts.fee_deducted_from when 'AMOUNT' then payouts.fee else 0 end`

export const malformedTransfers = queryAllMerchants(() =>
  selectFrom('transfers')
    .select('id')
    .where(
      sql<boolean>`amount <= 0 or fee < 0 or fee > 0 and kind in ('opening', 'deposit', 'deposit_reversal', 'payout_completed')
        or (kind = 'payout_completed') <> (wallet_id is null) or (wallet_id is null) <> (sequence is null)
        or (wallet_id is null) <> (balance_after is null)`,
    ),
)

export const transfersWithWrongAsset = queryAllMerchants(() =>
  selectFrom('transfers')
    .leftJoin('accounts', (join) =>
      join.onRef('accounts.merchantId', '=', 'transfers.merchantId').onRef('accounts.id', '=', 'transfers.walletId'),
    )
    .select('transfers.id')
    .where('transfers.walletId', 'is not', null)
    .where(sql<boolean>`accounts.asset_code is distinct from transfers.asset_code`),
)

export const wrongBalances = queryAllMerchants(() =>
  selectFrom('accounts')
    .leftJoin(
      selectFrom('transfers')
        .select('merchantId')
        .select([
          sql<string>`cast(wallet_id as text)`.as('accountId'),
          sql<bigint>`sum(${balanceChange})`.as('total'),
          sql<bigint>`count(*)`.as('entries'),
          sql<bigint>`max(sequence)`.as('latest'),
        ])
        .where('walletId', 'is not', null)
        .groupBy(['merchantId', 'walletId'])
        .as('sums'),
      (join) => join.onRef('sums.merchantId', '=', 'accounts.merchantId').onRef('sums.accountId', '=', 'accounts.id'),
    )
    .select('accounts.id')
    .where(
      sql<boolean>`accounts.balance <> coalesce(sums.total, 0) or accounts.entry_count <> coalesce(sums.entries, 0)
      or accounts.entry_count <> coalesce(sums.latest, 0)`,
    ),
)

export const wrongRunningBalances = queryAllMerchants(() =>
  selectFrom(
    selectFrom('transfers')
      .select(['id', 'balanceAfter'])
      .select(
        sql<bigint>`sum(${balanceChange}) over (partition by merchant_id, wallet_id order by sequence)`.as('running'),
      )
      .where('walletId', 'is not', null)
      .as('statement'),
  )
    .select('statement.id')
    .whereRef('statement.balanceAfter', '<>', 'statement.running'),
)

export const payoutsWithoutDebit = queryAllMerchants(() =>
  selectFrom('payouts')
    .leftJoin('transfers', (join) =>
      join
        .onRef('transfers.merchantId', '=', 'payouts.merchantId')
        .onRef('transfers.id', '=', 'payouts.transferId')
        .on('transfers.kind', '=', 'payout')
        .onRef('transfers.walletId', '=', 'payouts.walletId')
        .onRef('transfers.assetCode', '=', 'payouts.assetCode')
        .on('transfers.amount', '=', netAmount)
        .on(sql<boolean>`transfers.fee = coalesce(payouts.fee, 0)`)
        .onRef('transfers.balanceAfter', '=', 'payouts.balanceAfter'),
    )
    .select('payouts.id')
    .where('transfers.id', 'is', null),
)

export const depositsWithoutCredit = queryAllMerchants(() =>
  selectFrom('deposits')
    .leftJoin('transfers', (join) =>
      join
        .onRef('transfers.merchantId', '=', 'deposits.merchantId')
        .onRef('transfers.id', '=', 'deposits.transferId')
        .on('transfers.kind', '=', 'deposit')
        .onRef('transfers.walletId', '=', 'deposits.walletId')
        .onRef('transfers.assetCode', '=', 'deposits.assetCode')
        .on(sql<boolean>`transfers.amount + transfers.fee = deposits.amount`)
        .onRef('transfers.balanceAfter', '=', 'deposits.balanceAfter'),
    )
    .select('deposits.reference as id')
    .where('transfers.id', 'is', null),
)

export const reversalsWithoutDebit = queryAllMerchants(() =>
  selectFrom('depositReversals')
    .leftJoin('deposits', (join) =>
      join
        .onRef('deposits.merchantId', '=', 'depositReversals.merchantId')
        .onRef('deposits.reference', '=', 'depositReversals.reference')
        .onRef('deposits.walletId', '=', 'depositReversals.walletId')
        .onRef('deposits.amount', '=', 'depositReversals.amount'),
    )
    .leftJoin('transfers', (join) =>
      join
        .onRef('transfers.merchantId', '=', 'depositReversals.merchantId')
        .onRef('transfers.id', '=', 'depositReversals.transferId')
        .on('transfers.kind', '=', 'deposit_reversal')
        .onRef('transfers.walletId', '=', 'depositReversals.walletId')
        .on(sql<boolean>`transfers.amount + transfers.fee = deposit_reversals.amount`)
        .onRef('transfers.balanceAfter', '=', 'depositReversals.balanceAfter'),
    )
    .select('depositReversals.reference as id')
    .where(({ or, eb }) => or([eb('deposits.reference', 'is', null), eb('transfers.id', 'is', null)])),
)

/**
 * Finds blockchain transfers without an event of their merchant, and credited blockchain transfers that have no deposit
 * or a deposit with other values.
 */
export const wrongChainDeposits = queryAllMerchants(() =>
  selectFrom('chainDeposits')
    .leftJoin('chainEvents', (join) =>
      join
        .onRef('chainEvents.reference', '=', 'chainDeposits.reference')
        .onRef('chainEvents.merchantId', '=', 'chainDeposits.merchantId'),
    )
    .leftJoin('deposits', (join) =>
      join
        .onRef('deposits.merchantId', '=', 'chainDeposits.merchantId')
        .onRef('deposits.reference', '=', 'chainDeposits.reference')
        .onRef('deposits.reference', '=', 'chainDeposits.depositReference')
        .onRef('deposits.walletId', '=', 'chainDeposits.walletId')
        .onRef('deposits.amount', '=', 'chainDeposits.amount'),
    )
    .select('chainDeposits.reference as id')
    .where(({ or, and, eb }) =>
      or([
        eb('chainEvents.reference', 'is', null),
        and([eb('chainDeposits.depositReference', 'is not', null), eb('deposits.reference', 'is', null)]),
      ]),
    ),
)

export const unsettledPayouts = queryAllMerchants(() =>
  eventsWithoutTransfer(['COMPLETED'], sql<boolean>`transfers.kind = 'payout_completed' and transfers.fee = 0`),
)

export const payoutsWithoutRefund = queryAllMerchants(() =>
  eventsWithoutTransfer(
    ['FAILED', 'RETURNED'],
    sql<boolean>`transfers.kind = case payout_events.status when 'FAILED' then 'payout_failed' else 'payout_returned' end
      and transfers.fee = coalesce(payouts.fee, 0) and transfers.wallet_id = payouts.wallet_id`,
  ),
)

/**
 * Finds payout events with one of `statuses` and without a correct ledger transfer. A correct ledger transfer has the
 * payout's asset and net amount, and matches `condition`.
 */
function eventsWithoutTransfer(statuses: readonly RowOf<'payoutEvents'>['status'][], condition: RawBuilder<boolean>) {
  return selectFrom('payoutEvents')
    .innerJoin('payouts', (join) =>
      join
        .onRef('payouts.merchantId', '=', 'payoutEvents.merchantId')
        .onRef('payouts.id', '=', 'payoutEvents.payoutId'),
    )
    .leftJoin('transfers', (join) =>
      join
        .onRef('transfers.merchantId', '=', 'payoutEvents.merchantId')
        .onRef('transfers.id', '=', 'payoutEvents.transferId')
        .onRef('transfers.assetCode', '=', 'payouts.assetCode')
        .on('transfers.amount', '=', netAmount)
        .on(condition),
    )
    .select('payouts.id')
    .where('payoutEvents.status', 'in', statuses)
    .where('transfers.id', 'is', null)
}

/**
 * Finds ledger transfers that belong to no payout, payout event, deposit or reversal. `wrongOpenings` checks opening
 * entries.
 */
export const orphanedTransfers = queryAllMerchants(() =>
  selectFrom('transfers')
    .select('id')
    .where('kind', '<>', 'opening')
    .where(
      sql<boolean>`(merchant_id, id) not in (select merchant_id, transfer_id from payouts union all
      select merchant_id, transfer_id from payout_events union all select merchant_id, transfer_id from deposits union all
      select merchant_id, transfer_id from deposit_reversals)`,
    ),
)

/**
 * Finds opening entries that are not the first entry of a wallet, do not refer to the wallet's import, or differ from
 * the balance in the wallet's creation event.
 */
export const wrongOpenings = queryIdsOfAllMerchants(
  sql`select merchant_id || ' ' || wallet_id as id from (
      select merchant_id, cast(wallet_id as text) as wallet_id, cast(amount as text) as amount, 1 as one
        from transfers where kind = 'opening' and sequence = 1 and payout_id is null
          and reference = 'import:' || cast(wallet_id as text)
      union all
      select merchant_id, 'of ' || cast(id as text), '', 1 from transfers where kind = 'opening'
        and (sequence <> 1 or payout_id is not null or reference is null
          or reference <> 'import:' || cast(wallet_id as text))
      union all
      select merchant_id, cast(object_id as text), data ->> 'balance', -1 from events
        where type = 'wallet.created' and data is not null and data ->> 'balance' <> '0'
    ) as openings group by merchant_id, wallet_id, amount having sum(one) <> 0`,
)

export const transfersWithWrongCause = queryIdsOfAllMerchants(
  sql`select transfers.id from transfers join (
        select merchant_id, transfer_id, id as payout_id, cast(null as text) as reference from payouts
        union all
        select merchant_id, transfer_id, payout_id, null from payout_events
        union all
        select merchant_id, transfer_id, null, reference from deposits
        union all
        select merchant_id, transfer_id, null, reference from deposit_reversals
      ) as causes on causes.merchant_id = transfers.merchant_id and causes.transfer_id = transfers.id
      where causes.payout_id is distinct from transfers.payout_id
        or causes.reference is distinct from transfers.reference`,
)

export const payoutsWithWrongStatus = queryAllMerchants(() =>
  selectFrom('payouts')
    .leftJoin(
      selectFrom('payoutEvents')
        .select(['merchantId', 'payoutId'])
        .select(sql<string>`min(status) || ' ' || max(status) || ' ' || count(*)`.as('path'))
        .groupBy(['merchantId', 'payoutId'])
        .as('events'),
      (join) => join.onRef('events.merchantId', '=', 'payouts.merchantId').onRef('events.payoutId', '=', 'payouts.id'),
    )
    .select('payouts.id')
    .where(
      sql<boolean>`coalesce(events.path, '') <> case payouts.status when 'PROCESSING' then ''
      when 'COMPLETED' then 'COMPLETED COMPLETED 1' when 'FAILED' then 'FAILED FAILED 1'
      else 'COMPLETED RETURNED 2' end`,
    ),
)

/**
 * Finds clearing accounts whose entries do not add up to the deposits and payouts. `PROCESSING` payouts are in transit,
 * and `COMPLETED` payouts are settled. The fees of `PROCESSING` and `COMPLETED` payouts are earned. Sums units and
 * remainders separately, because a sum of amounts could overflow 64 bits.
 */
export const wrongClearingAccounts = queryIdsOfAllMerchants(
  sql`select merchant_id || ' ' || account_id as id from (
      select merchant_id, 'payouts_in_transit:' || asset_code as account_id, ${netAmount} as amount from payouts
        where status = 'PROCESSING'
      union all
      select merchant_id, 'payouts_settled:' || asset_code, ${netAmount} from payouts where status = 'COMPLETED'
      union all
      select merchant_id, 'fees:' || asset_code, fee from payouts
        where status in ('PROCESSING', 'COMPLETED') and fee is not null
      union all
      select merchant_id, 'openings:' || asset_code, -amount from transfers where kind = 'opening'
      union all
      select d.merchant_id, 'deposits:' || w.currency, -d.amount from deposits d
        join wallets w on w.merchant_id = d.merchant_id and w.id = d.wallet_id
      union all
      select d.merchant_id, 'deposits:' || w.currency, d.amount from deposit_reversals d
        join wallets w on w.merchant_id = d.merchant_id and w.id = d.wallet_id
      union all
      select merchant_id, account_id, case direction when 'debit' then amount else -amount end from entries
        where sequence is null
    ) as postings group by merchant_id, account_id
      having sum(amount / 100000000) + sum(amount % 100000000) / 100000000 <> 0
        or sum(amount % 100000000) % 100000000 <> 0`,
)

/**
 * Finds payouts, deposits, wallets and customers whose events are missing or wrong, and events whose object does not
 * exist.
 */
export const wrongEvents = queryIdsOfAllMerchants(
  sql`select merchant_id || ' ' || type || ' ' || object_id as id from (
      select merchant_id, 'payout.initiated' as type, id as object_id, 1 as version, 1 as one from payouts
      union all
      select merchant_id, 'payout.' || lower(status), payout_id, case status when 'RETURNED' then 3 else 2 end, 1
        from payout_events
      union all
      select merchant_id, 'wallet.transaction.inbound', id, 1, 1 from transfers where kind = 'deposit'
      union all
      select merchant_id, 'deposit.reversed', id, 1, 1 from transfers where kind = 'deposit_reversal'
      union all
      select merchant_id, 'wallet.created', id, 1, 1 from wallets
      union all
      select merchant_id, 'customer.created', id, 1, 1 from customers
      union all
      select merchant_id, type, object_id, version, -1 from events
        where type like 'payout.%' or type like 'wallet.%' or type like 'deposit.%' or type = 'customer.created'
    ) as happened group by merchant_id, type, object_id, version having sum(one) <> 0`,
)

/** Finds objects with a gap in the versions of their events, and payout methods without a creation event. */
export const wrongEventVersions = queryIdsOfAllMerchants(
  sql`select merchant_id || ' ' || object_id as id from events where data is not null
      group by merchant_id, object_id having count(*) <> max(version) or min(version) <> 1
    union all
    select merchant_id || ' ' || id from payout_methods
      where (merchant_id, id) not in (select merchant_id, object_id from events where type = 'payout_method.created')`,
)

export const wrongRailOrders = queryIdsOfAllMerchants(
  sql`select t.merchant_id || ' ' || t.order_id as id from payout_transfers t
      left join payouts p on p.merchant_id = t.merchant_id and p.id = t.payout_id and p.reference_id = t.order_id
      where p.id is null or t.state <> 'ATTENTION' and p.status <> case t.state
        when 'COMPLETED' then 'COMPLETED' when 'RETURNED' then 'RETURNED'
        when 'REJECTED' then 'FAILED' when 'CANCELLED' then 'FAILED' else 'PROCESSING' end`,
)

export const brokenSequences = queryIdsOfAllMerchants(
  sql`select merchant_id || ' ' || name as id from (
      select merchant_id, name, latest, 0 as total, 0 as highest from sequences
        where name in ('payouts', 'customers', 'wallets', 'deposits', 'events')
      union all
      select merchant_id, 'payouts', 0, count(*), max(sequence) from payouts group by merchant_id
      union all
      select merchant_id, 'customers', 0, count(*), max(sequence) from customers group by merchant_id
      union all
      select merchant_id, 'wallets', 0, count(*), max(sequence) from wallets group by merchant_id
      union all
      select merchant_id, 'deposits', 0, count(*), max(sequence) from deposits group by merchant_id
      union all
      select merchant_id, 'events', 0, count(*), max(sequence) from events group by merchant_id
    ) as numbered group by merchant_id, name
      having sum(latest) <> sum(total) or sum(latest) <> sum(highest)`,
)

/** Columns that must be unique per merchant. Does not use the unique indexes, because an index may be damaged. */
const uniqueColumns: readonly (readonly [table: TableName, column: string])[] = [
  ['payouts', 'id'],
  ['payouts', 'idempotency_key'],
  ['payouts', 'transaction_id'],
  ['payouts', 'sequence'],
  ['payouts', 'transfer_id'],
  ['deposits', 'reference'],
  ['deposits', 'sequence'],
  ['deposits', 'transaction_number'],
  ['depositReversals', 'reference'],
  ['customers', 'id'],
  ['customers', 'sequence'],
  ['wallets', 'id'],
  ['wallets', 'sequence'],
  ['payoutMethods', 'id'],
  ['events', 'sequence'],
]

export const duplicateQueries = uniqueColumns.map(([table, column]) => {
  const name = sql.ref(column)
  return queryIdsOfAllMerchants(
    sql`select merchant_id || ${sql.lit(` ${table}.${column} `)} || ${name} as id from ${scanTable(table)}
      where ${name} is not null group by merchant_id, ${name} having count(*) > 1`,
  )
})

export const payoutsAfter = query((p: Params<{ merchant: string; sequence: number; limit: number }>) =>
  acrossMerchants(
    selectFrom('payouts')
      .selectAll()
      .where(sql<boolean>`(merchant_id, sequence) > (${p.merchant}, ${p.sequence})`)
      .orderBy('merchantId')
      .orderBy('sequence')
      .limit(p.limit),
  ),
)

/**
 * Finds accounts whose `reachableBalance` is not the sum of the opening entry and all deposits that were not reversed.
 *
 * In earlier versions, the deposits of an account could exceed the maximum amount. Migration 0023 set the
 * `reachableBalance` of these accounts to about the maximum amount, and reversals do not change it.
 */
export const wrongReachableBalances = queryIdsOfAllMerchants(
  sql`select accounts.id from accounts left join (
        select merchant_id, cast(wallet_id as text) as account_id, sum(amount / 100000000) as units,
          sum(amount % 100000000) as rest
        from (select merchant_id, wallet_id, amount from deposits
          union all select merchant_id, wallet_id, -amount from deposit_reversals
          union all select merchant_id, wallet_id, amount from transfers where kind = 'opening') as deposited
        group by merchant_id, wallet_id
      ) as sums on sums.merchant_id = accounts.merchant_id and sums.account_id = accounts.id
      where case when sums.units + sums.rest / 100000000 >= 92233720368
        then coalesce(accounts.reachable_balance, 0) < 9223372036800000000
        else accounts.reachable_balance is distinct from coalesce(sums.units * 100000000 + sums.rest, 0)
          and coalesce(accounts.reachable_balance, 0) < 9223372036854775807 end`,
)

export const walletTotals = queryAllMerchants(() =>
  selectFrom('accounts')
    .select('assetCode')
    .select([sql<bigint>`sum(balance / 100000000)`.as('units'), sql<bigint>`sum(balance % 100000000)`.as('rest')])
    .groupBy('assetCode')
    .orderBy('assetCode'),
)

export const ledgerSizes = queryAllMerchants(() =>
  selectFrom(
    sql<{ transfers: bigint; entries: bigint; payouts: bigint }>`(select
    (select count(*) from transfers) as transfers, (select count(*) from entries) as entries,
    (select count(*) from payouts) as payouts)`.as('sizes'),
  ).selectAll(),
)

export const searchableCustomers = query((p: Params<{ merchantId: string; after: string; limit: number }>) =>
  selectFrom('customers')
    .select(['id', 'email', 'phone', 'firstName', 'lastName', 'businessName'])
    .where('merchantId', '=', p.merchantId)
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(p.limit),
)

/** `after` is exclusive and `through` is inclusive. */
export const searchKeysBetween = query((p: Params<{ merchantId: string; after: string; through: string }>) =>
  selectFrom('customerSearchKeys')
    .select(['customerId', 'kind', 'key'])
    .where('merchantId', '=', p.merchantId)
    .where('customerId', '>', p.after)
    .where('customerId', '<=', p.through),
)

export const ledgerChangesByDay = query((p: Params<{ merchantId: string }>) => {
  // PostgreSQL sessions of the service have the time zone UTC.
  const day = sql<string>`substr(cast(created_at as text), 1, 10)`
  return selectFrom('transfers')
    .select('assetCode')
    .select([
      day.as('day'),
      sql<bigint>`sum((${balanceChange}) / 100000000)`.as('changeUnits'),
      sql<bigint>`sum((${balanceChange}) % 100000000)`.as('changeRest'),
    ])
    .where('merchantId', '=', p.merchantId)
    .where('walletId', 'is not', null)
    .groupBy(['assetCode', day])
})
