import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import { listParam, query, queryOne, selectFrom } from '../../database/query.ts'

/** What a transfer adds to its wallet's balance. */
const balanceChange = sql`case when transfers.kind in ('deposit_reversal', 'payout') then -transfers.amount - transfers.fee
  else transfers.amount + transfers.fee end`

/** The numbers of a dense sequence above one and up to another. */
type SequenceRangeParams = { merchantId: string; after: number; through: number }

/** The same of a wallet's statement, or with only so many rows. */
type WalletParams = { walletId: string }
type LimitParams = { limit: number }

/** The latest entry of a wallet's statement that has at most a number. */
export const entryAtOrBefore = queryOne((p: Params<{ merchantId: string; sequence: number } & WalletParams>) =>
  selectFrom('transfers')
    .select(['sequence', 'createdAt', 'balanceAfter'])
    .where('merchantId', '=', p.merchantId)
    .where('walletId', '=', p.walletId)
    .where('sequence', '<=', p.sequence)
    .orderBy('sequence', 'desc')
    .limit(1),
)

/** Entries of a wallet's statement in their order, with what the payout says that moved the money. */
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

/** What the ledger moved in and out of a wallet by entries that lie between two numbers. */
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

/** The latest of the merchant's payouts that has at most a number. */
export const payoutAtOrBefore = queryOne((p: Params<{ merchantId: string; sequence: number }>) =>
  selectFrom('payouts')
    .select(['sequence', 'createdAt'])
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '<=', p.sequence)
    .orderBy('sequence', 'desc')
    .limit(1),
)

/** Payouts in the order of their numbers. */
export const payoutsBetween = query((p: Params<SequenceRangeParams & LimitParams>) =>
  selectFrom('payouts')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '>', p.after)
    .where('sequence', '<=', p.through)
    .orderBy('sequence')
    .limit(p.limit),
)

/** What the ledger took from wallets by payouts that lie between two numbers. */
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

/** Events between two numbers that happened from a moment on and before another, in milliseconds since 1970. */
type EventRangeParams = SequenceRangeParams & { types: readonly string[]; timeFrom: bigint; timeBefore: bigint }

/** Deposits as they came in, and as they were taken back. */
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

/** What the ledger brought into wallets by them, less what it took back. */
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

/** Fees of payouts as they were charged, and as they came back with payouts that failed or were returned. */
export const feesBetween = query((p: Params<EventRangeParams>) =>
  payoutEventsInRange(p)
    .select(['events.sequence', 'events.time', 'events.type', 'payouts.id as payoutId', 'payouts.transactionId'])
    .select(['payouts.assetCode', 'payouts.fee'])
    .where('payouts.fee', '>', 0n)
    .orderBy('events.sequence'),
)

/** What the ledger earned and gave back by them. */
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
        // No COALESCE: row-level security takes that for what might tell of other rows, and then no index serves it.
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

/** How many there are and what they come to; whole units and the rest apart, so that no sum leaves 64 bits. */
function sumColumns(moved: ReturnType<typeof sql>) {
  return [
    sql<number>`count(*)`.as('rowCount'),
    sql<bigint>`sum((${moved}) / 100000000)`.as('units'),
    sql<bigint>`sum((${moved}) % 100000000)`.as('rest'),
    sql<number>`sum(case when (${moved}) % 1000 <> 0 then 1 else 0 end)`.as('fineCount'),
  ]
}
