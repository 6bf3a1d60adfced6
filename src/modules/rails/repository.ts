import { sql } from 'kysely'
import type { DueTime } from '../../core/ids-and-clock.ts'
import type { Params } from '../../database/query.ts'
import {
  acrossMerchants,
  insertInto,
  listParam,
  pickParams,
  query,
  queryOne,
  selectFrom,
  statement,
  statementOne,
  updateTable,
} from '../../database/query.ts'
import type { NewRowOf } from '../../database/tables.ts'

const dueColumns = ['merchantId', 'orderId', 'state'] as const

type DueOrdersQuery = { rail: string; now: DueTime; limit: number }

/**
 * The orders to submit to a rail, oldest first, of all merchants. `dueAt` only orders the queue, so an order that was queued by a
 * clock ahead of time is not delayed.
 */
export const dueSubmissions = query((p: Params<Omit<DueOrdersQuery, 'now'>>) =>
  acrossMerchants(
    selectFrom('payoutTransfers')
      .select(dueColumns)
      .where('rail', '=', p.rail)
      .where('state', '=', sql.lit('QUEUED'))
      .orderBy('dueAt')
      .limit(p.limit),
  ),
)

/** The submitted orders whose next poll is due, of all merchants. */
export const duePolls = query((p: Params<DueOrdersQuery>) =>
  acrossMerchants(
    selectFrom('payoutTransfers')
      .select(dueColumns)
      .where('rail', '=', p.rail)
      .where('state', '<>', sql.lit('QUEUED'))
      .where('dueAt', '<=', p.now)
      .orderBy('dueAt')
      .limit(p.limit),
  ),
)

/** Merchant and rail of an order. */
export const railOrderById = queryOne((p: Params<{ orderId: string }>) =>
  acrossMerchants(
    selectFrom('payoutTransfers').select(['merchantId', 'orderId', 'rail']).where('orderId', '=', p.orderId),
  ),
)

/** Orders of all merchants with an unknown outcome, a later poll and at most `attempts` submissions. */
export const unknownRailOrders = query((p: Params<{ rail: string; after: DueTime; attempts: number; limit: number }>) =>
  acrossMerchants(
    selectFrom('payoutTransfers')
      .select(['merchantId', 'orderId'])
      .where('rail', '=', p.rail)
      .where('state', '<>', sql.lit('QUEUED'))
      .where('state', '=', sql.lit('UNKNOWN'))
      .where('attempts', '<=', p.attempts)
      .where('dueAt', '>', p.after)
      .orderBy('dueAt')
      .limit(p.limit),
  ),
)

/**
 * Orders of all merchants with a number of polls in a range whose next poll is later than it can be by the schedule. Omits orders
 * that were just accepted, because the sandbox rail names the time of their next poll itself.
 */
export const postponedRailOrders = query(
  (p: Params<{ rail: string; minAsked: number; maxAsked: number; after: DueTime; limit: number }>) =>
    acrossMerchants(
      selectFrom('payoutTransfers')
        .select(['merchantId', 'orderId'])
        .where('rail', '=', p.rail)
        .where('state', '<>', sql.lit('QUEUED'))
        .where('dueAt', '>', p.after)
        .where('asked', '>=', p.minAsked)
        .where('asked', '<=', p.maxAsked)
        .where(({ eb, or }) => or([eb('state', '<>', sql.lit('ACCEPTED')), eb('asked', '>', 0)]))
        .orderBy('dueAt')
        .limit(p.limit),
    ),
)

/** Brings polls that are due later forward to `dueAt`. */
export const pollRailOrdersNow = statement(
  (p: Params<{ merchantId: string; orderIds: readonly string[]; dueAt: DueTime }>) =>
    updateTable('payoutTransfers')
      .set({ dueAt: p.dueAt })
      .where('orderId', 'in', listParam(p.orderIds))
      .where('merchantId', '=', p.merchantId)
      .where('state', '<>', sql.lit('QUEUED'))
      .where('dueAt', '>', p.dueAt),
)

/** Stores a bank's message; `null` if its id exists. */
export const insertRailReport = statementOne((p: Params<Omit<NewRowOf<'railReports'>, 'readAt'>>) =>
  insertInto('railReports')
    .values({ ...pickParams(p, ['rail', 'messageId', 'body', 'receivedAt']), readAt: null })
    .onConflict((conflict) => conflict.columns(['rail', 'messageId']).doNothing())
    .returning('messageId'),
)

export const railReportById = queryOne((p: Params<{ rail: string; messageId: string }>) =>
  selectFrom('railReports').select('body').where('rail', '=', p.rail).where('messageId', '=', p.messageId),
)

/** Unread messages received before or after a range of time, oldest first. */
export const unreadRailReports = query((p: Params<{ rail: string; before: string; after: string; limit: number }>) =>
  selectFrom('railReports')
    .selectAll()
    .where('rail', '=', p.rail)
    .where('readAt', 'is', null)
    .where(({ eb, or }) => or([eb('receivedAt', '<', p.before), eb('receivedAt', '>', p.after)]))
    .orderBy('receivedAt')
    .limit(p.limit),
)

export const markRailReportRead = statement((p: Params<{ rail: string; messageId: string; readAt: string }>) =>
  updateTable('railReports').set({ readAt: p.readAt }).where('rail', '=', p.rail).where('messageId', '=', p.messageId),
)

type AttentionRange = { since: string; orderId: string; limit: number }

/** The attention queue after a position, oldest first. */
function attentionRows(p: Params<AttentionRange>) {
  return selectFrom('payoutTransfers')
    .innerJoin('payouts', (join) =>
      join
        .onRef('payouts.merchantId', '=', 'payoutTransfers.merchantId')
        .onRef('payouts.id', '=', 'payoutTransfers.payoutId'),
    )
    .select([
      ...(['payoutTransfers.merchantId', 'payoutTransfers.orderId', 'payoutTransfers.payoutId'] as const),
      ...(['payoutTransfers.rail', 'payoutTransfers.reference', 'payoutTransfers.history'] as const),
      ...(['payoutTransfers.updatedAt as since', 'payouts.status as payoutStatus'] as const),
    ])
    .where('payoutTransfers.state', '=', sql.lit('ATTENTION'))
    .where('payoutTransfers.updatedAt', '>=', p.since)
    .where(({ or, eb }) =>
      or([eb('payoutTransfers.updatedAt', '>', p.since), eb('payoutTransfers.orderId', '>', p.orderId)]),
    )
    .orderBy('payoutTransfers.updatedAt')
    .orderBy('payoutTransfers.orderId')
    .limit(p.limit)
}

export const attentionOfMerchant = query((p: Params<AttentionRange & { merchantId: string }>) =>
  attentionRows(p).where('payoutTransfers.merchantId', '=', p.merchantId),
)

export const attentionOfAllMerchants = query((p: Params<AttentionRange>) => acrossMerchants(attentionRows(p)))

type MerchantRailKey = { merchantId: string; rail: string }

export const dueSubmissionsOfMerchant = query((p: Params<MerchantRailKey>) =>
  selectFrom('payoutTransfers')
    .select(['orderId'])
    .where('rail', '=', p.rail)
    .where('merchantId', '=', p.merchantId)
    .where('state', '=', sql.lit('QUEUED'))
    .orderBy('dueAt'),
)

export const duePollsOfMerchant = query((p: Params<MerchantRailKey & { now: DueTime }>) =>
  selectFrom('payoutTransfers')
    .select(['orderId'])
    .where('rail', '=', p.rail)
    .where('merchantId', '=', p.merchantId)
    .where('state', '<>', sql.lit('QUEUED'))
    .where('dueAt', '<=', p.now)
    .orderBy('dueAt'),
)

/** The next due time of the merchant's polls after a time. */
export const nextDueTimeOfMerchant = queryOne((p: Params<MerchantRailKey & { after: DueTime }>) =>
  selectFrom('payoutTransfers')
    .select(['dueAt'])
    .where('rail', '=', p.rail)
    .where('merchantId', '=', p.merchantId)
    .where('dueAt', '>', p.after)
    .where('state', '<>', sql.lit('QUEUED'))
    .where('state', '<>', sql.lit('SUBMITTING'))
    .orderBy('dueAt')
    .limit(1),
)

/** The merchant's orders with a submission in flight. */
export const submittingOrdersOfMerchant = query((p: Params<MerchantRailKey>) =>
  selectFrom('payoutTransfers')
    .select(['orderId'])
    .where('rail', '=', p.rail)
    .where('merchantId', '=', p.merchantId)
    .where('dueAt', 'is not', null)
    .where('state', '<>', sql.lit('QUEUED'))
    .where('state', '=', sql.lit('SUBMITTING')),
)

type DueTimeShift = { merchantId: string; by: bigint }

/**
 * Brings polls of a merchant's orders forward as its clock advances. Queued orders are due already, and the timeout of a call in
 * flight does not depend on the merchant's clock.
 */
export const shiftRailOrderDueTimes = statement((p: Params<DueTimeShift>) =>
  updateTable('payoutTransfers')
    .set({ dueAt: sql<DueTime>`due_at - ${p.by}` })
    .where('merchantId', '=', p.merchantId)
    .where('dueAt', 'is not', null)
    .where('state', '<>', sql.lit('QUEUED'))
    .where('state', '<>', sql.lit('SUBMITTING')),
)

/** The same for retries of webhooks. */
export const shiftDeliveryDueTimes = statement((p: Params<DueTimeShift>) =>
  updateTable('webhookDeliveries')
    .set({ nextAttemptAt: sql<DueTime>`next_attempt_at - ${p.by}` })
    .where('merchantId', '=', p.merchantId)
    .where('status', '=', sql.lit('pending'))
    .where('nextAttemptAt', 'is not', null),
)

const openStates = ['QUEUED', 'SUBMITTING', 'UNKNOWN', 'ACCEPTED', 'ATTENTION'] as const

/** Counts orders of each rail in each state that is not final, of all merchants. */
export const openRailOrderCounts = query(() =>
  acrossMerchants(
    selectFrom('payoutTransfers')
      .select(['rail', 'state', sql<number>`count(*)`.as('rowCount')])
      .where((eb) => eb.or(openStates.map((state) => eb('state', '=', sql.lit(state)))))
      .groupBy(['rail', 'state'])
      .orderBy('rail')
      .orderBy('state'),
  ),
)

/** The orders of a rail after an order id, of all merchants, with the amounts of their payouts. */
export const railOrdersOfRail = query((p: Params<{ rail: string; after: string; limit: number }>) =>
  acrossMerchants(
    selectFrom('payoutTransfers')
      .innerJoin('payouts', (join) =>
        join
          .onRef('payouts.merchantId', '=', 'payoutTransfers.merchantId')
          .onRef('payouts.id', '=', 'payoutTransfers.payoutId'),
      )
      .select([
        ...(['payoutTransfers.orderId', 'payoutTransfers.payoutId', 'payoutTransfers.reference'] as const),
        ...(['payoutTransfers.history', 'payouts.amountFiat', 'payouts.recipientCurrency as currency'] as const),
      ])
      .where('payoutTransfers.rail', '=', p.rail)
      .where('payoutTransfers.orderId', '>', p.after)
      .orderBy('payoutTransfers.orderId')
      .limit(p.limit),
  ),
)
