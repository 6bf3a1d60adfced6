import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import { listParam, query, queryOne, selectFrom } from '../../database/query.ts'

const balanceChange = sql`case when transfers.kind in ('deposit_reversal', 'payout') then -transfers.amount - transfers.fee
  else transfers.amount + transfers.fee end`

/** `after` is exclusive, `through` inclusive. */
type SequenceRangeParams = { merchantId: string; after: number; through: number }

type WalletParams = { walletId: string }
type LimitParams = { limit: number }

const selectBalances = () =>
  selectFrom('transfers').select(['sequence', 'createdAt', 'balanceAfter']).$narrowType<{ sequence: number }>()

export const entriesAt = query((p: Params<{ merchantId: string; sequences: readonly number[] } & WalletParams>) =>
  selectBalances()
    .where('merchantId', '=', p.merchantId)
    .where('walletId', '=', p.walletId)
    .where('sequence', 'in', listParam(p.sequences))
    // Without ORDER BY, SQLite scans all transfers of the merchant instead of using `transfers_by_wallet`.
    .orderBy('sequence'),
)

export const entryAtOrBefore = queryOne((p: Params<{ merchantId: string; sequence: number } & WalletParams>) =>
  selectBalances()
    .where('merchantId', '=', p.merchantId)
    .where('walletId', '=', p.walletId)
    .where('sequence', '<=', p.sequence)
    .orderBy('sequence', 'desc')
    .limit(1),
)

export const entriesBetween = query((p: Params<SequenceRangeParams & WalletParams & LimitParams>) =>
  selectFrom('transfers')
    .leftJoin('payouts', (join) =>
      join.onRef('payouts.merchantId', '=', 'transfers.merchantId').onRef('payouts.id', '=', 'transfers.payoutId'),
    )
    .select(['transfers.sequence', 'transfers.createdAt', 'transfers.kind', 'transfers.assetCode', 'transfers.amount'])
    .select(['transfers.fee', 'transfers.balanceAfter', 'transfers.id', 'transfers.payoutId', 'transfers.reference'])
    .select(['payouts.referenceId', 'payouts.transactionId', 'payouts.recipientName', 'payouts.narration'])
    .select(['payouts.amountFiat', 'payouts.recipientCurrency'])
    .where('transfers.merchantId', '=', p.merchantId)
    .where('transfers.walletId', '=', p.walletId)
    .where('transfers.sequence', '>', p.after)
    .where('transfers.sequence', '<=', p.through)
    .orderBy('transfers.sequence')
    .limit(p.limit),
)

export const entrySums = query((p: Params<SequenceRangeParams & WalletParams>) =>
  selectFrom('transfers')
    .select('assetCode')
    .select(sumColumns(balanceChange))
    .where('merchantId', '=', p.merchantId)
    .where('walletId', '=', p.walletId)
    .where('sequence', '>', p.after)
    .where('sequence', '<=', p.through)
    .groupBy('assetCode'),
)

export const payoutAtOrBefore = queryOne((p: Params<{ merchantId: string; sequence: number }>) =>
  selectFrom('payouts')
    .select(['sequence', 'createdAt'])
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '<=', p.sequence)
    .orderBy('sequence', 'desc')
    .limit(1),
)

export const payoutsBetween = query((p: Params<SequenceRangeParams & LimitParams>) =>
  selectFrom('payouts')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '>', p.after)
    .where('sequence', '<=', p.through)
    .orderBy('sequence')
    .limit(p.limit),
)

export const payoutSums = query((p: Params<SequenceRangeParams>) =>
  selectFrom('payouts')
    .innerJoin('transfers', (join) =>
      join.onRef('transfers.merchantId', '=', 'payouts.merchantId').onRef('transfers.id', '=', 'payouts.transferId'),
    )
    .select('transfers.assetCode')
    .select(sumColumns(sql`transfers.amount + transfers.fee`))
    .where('payouts.merchantId', '=', p.merchantId)
    .where('payouts.sequence', '>', p.after)
    .where('payouts.sequence', '<=', p.through)
    .groupBy('transfers.assetCode'),
)

/** `timeFrom` is inclusive, `timeBefore` exclusive. */
type EventRangeParams = SequenceRangeParams & { types: readonly string[]; timeFrom: bigint; timeBefore: bigint }

export const depositsBetween = query((p: Params<EventRangeParams>) =>
  depositEventsInRange(p)
    .innerJoin('deposits', (join) =>
      join
        .onRef('deposits.merchantId', '=', 'events.merchantId')
        .onRef('deposits.reference', '=', 'transfers.reference'),
    )
    .select(['events.sequence', 'events.time', 'transfers.id', 'transfers.assetCode', 'deposits.walletId'])
    .select(['deposits.amount', 'deposits.reference', 'transfers.kind'])
    .orderBy('events.sequence'),
)

export const depositSums = query((p: Params<EventRangeParams>) =>
  depositEventsInRange(p)
    .select('transfers.assetCode')
    .select(sumColumns(balanceChange))
    .groupBy('transfers.assetCode'),
)

function depositEventsInRange(p: Params<EventRangeParams>) {
  return eventsInRange(p).innerJoin('transfers', (join) =>
    join.onRef('transfers.merchantId', '=', 'events.merchantId').onRef('transfers.id', '=', 'events.objectId'),
  )
}

/** Returns fees, and refunds of fees for failed or returned payouts. */
export const feesBetween = query((p: Params<EventRangeParams>) =>
  payoutEventsInRange(p)
    .select(['events.sequence', 'events.time', 'events.type', 'payouts.id as payoutId', 'payouts.transactionId'])
    .select(['payouts.assetCode', 'payouts.fee'])
    .where('payouts.fee', '>', 0n)
    .orderBy('events.sequence'),
)

export const feeSums = query((p: Params<EventRangeParams>) =>
  payoutEventsInRange(p)
    .leftJoin('payoutEvents', (join) =>
      join
        .onRef('payoutEvents.merchantId', '=', 'events.merchantId')
        .onRef('payoutEvents.payoutId', '=', 'events.objectId')
        .on(sql<boolean>`payout_events.status = upper(substr(events.type, 8))`),
    )
    .innerJoin('transfers', (join) =>
      join
        .onRef('transfers.merchantId', '=', 'events.merchantId')
        // COALESCE would prevent the use of an index (see `transferIdOfEvent`).
        .on(
          sql<boolean>`transfers.id = case when payout_events.transfer_id is null then payouts.transfer_id
            else payout_events.transfer_id end`,
        ),
    )
    .select('transfers.assetCode')
    .select(sumColumns(sql`case transfers.kind when 'payout' then transfers.fee else -transfers.fee end`))
    .where('transfers.fee', '>', 0n)
    .groupBy('transfers.assetCode'),
)

function payoutEventsInRange(p: Params<EventRangeParams>) {
  return eventsInRange(p).innerJoin('payouts', (join) =>
    join.onRef('payouts.merchantId', '=', 'events.merchantId').onRef('payouts.id', '=', 'events.objectId'),
  )
}

function eventsInRange(p: Params<EventRangeParams>) {
  return selectFrom('events')
    .where('events.merchantId', '=', p.merchantId)
    .where('events.sequence', '>', p.after)
    .where('events.sequence', '<=', p.through)
    .where('events.type', 'in', listParam(p.types) as never)
    .where('events.time', '>=', p.timeFrom)
    .where('events.time', '<', p.timeBefore)
}

/** Sums units and remainders separately, because a sum of amounts could overflow 64 bits. */
function sumColumns(moved: ReturnType<typeof sql>) {
  return [
    sql<number>`count(*)`.as('rowCount'),
    sql<bigint>`sum((${moved}) / 100000000)`.as('units'),
    sql<bigint>`sum((${moved}) % 100000000)`.as('rest'),
    sql<number>`sum(case when (${moved}) % 1000 <> 0 then 1 else 0 end)`.as('fineCount'),
  ]
}
