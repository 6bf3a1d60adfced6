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
 * What is to be submitted to a rail, in order of age; an operator's view. It waits for its turn and for no time: one that was queued by
 * a clock that was ahead waits no longer.
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

/** Of what a rail is to be asked; an operator's view. */
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

/** Whose an order is, and on which rail; an operator's view. */
export const railOrderById = queryOne((p: Params<{ orderId: string }>) =>
  acrossMerchants(
    selectFrom('payoutTransfers').select(['merchantId', 'orderId', 'rail']).where('orderId', '=', p.orderId),
  ),
)

/** What a rail could not answer and is to be asked again later, and was not submitted too often; an operator's view. */
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
 * Orders that were asked about so often and are asked about again only after a time; an operator's view. An order that a bank has
 * just accepted is left out: a bank of the sandbox says itself when it has more.
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

/** Has orders asked about from a time on that were to be asked about later. */
export const pollRailOrdersNow = statement(
  (p: Params<{ merchantId: string; orderIds: readonly string[]; dueAt: DueTime }>) =>
    updateTable('payoutTransfers')
      .set({ dueAt: p.dueAt })
      .where('orderId', 'in', listParam(p.orderIds))
      .where('merchantId', '=', p.merchantId)
      .where('state', '<>', sql.lit('QUEUED'))
      .where('dueAt', '>', p.dueAt),
)

/** Keeps what a bank has posted, once; `null` where it was there. */
export const insertRailReport = statementOne((p: Params<Omit<NewRowOf<'railReports'>, 'readAt'>>) =>
  insertInto('railReports')
    .values({ ...pickParams(p, ['rail', 'messageId', 'body', 'receivedAt']), readAt: null })
    .onConflict((conflict) => conflict.columns(['rail', 'messageId']).doNothing())
    .returning('messageId'),
)

/** What a bank has posted under an id. */
export const railReportById = queryOne((p: Params<{ rail: string; messageId: string }>) =>
  selectFrom('railReports').select('body').where('rail', '=', p.rail).where('messageId', '=', p.messageId),
)

/** What was posted before a time, or after another, and not read yet, the oldest first. */
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

/** The payouts that a person must look at behind a place, the oldest first. */
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

/** Those of a merchant. */
export const attentionOfMerchant = query((p: Params<AttentionRange & { merchantId: string }>) =>
  attentionRows(p).where('payoutTransfers.merchantId', '=', p.merchantId),
)

/** Those of all; an operator's view. */
export const attentionOfAllMerchants = query((p: Params<AttentionRange>) => acrossMerchants(attentionRows(p)))
type MerchantRailKey = { merchantId: string; rail: string }

/** A merchant's orders that wait to be submitted to a rail. */
export const dueSubmissionsOfMerchant = query((p: Params<MerchantRailKey>) =>
  selectFrom('payoutTransfers')
    .select(['orderId'])
    .where('rail', '=', p.rail)
    .where('merchantId', '=', p.merchantId)
    .where('state', '=', sql.lit('QUEUED'))
    .orderBy('dueAt'),
)

/** A merchant's orders of which a rail is to be asked. */
export const duePollsOfMerchant = query((p: Params<MerchantRailKey & { now: DueTime }>) =>
  selectFrom('payoutTransfers')
    .select(['orderId'])
    .where('rail', '=', p.rail)
    .where('merchantId', '=', p.merchantId)
    .where('state', '<>', sql.lit('QUEUED'))
    .where('dueAt', '<=', p.now)
    .orderBy('dueAt'),
)

/** When a rail is to be asked next of the merchant's orders, after a time. */
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

/** A merchant's orders that a rail is being asked to pay. */
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
 * Brings nearer what is to be asked of a merchant's orders, as its clock goes on; what waits is due already, and a call that is
 * under way takes as long as it takes.
 */
export const shiftRailOrderDueTimes = statement((p: Params<DueTimeShift>) =>
  updateTable('payoutTransfers')
    .set({ dueAt: sql<DueTime>`due_at - ${p.by}` })
    .where('merchantId', '=', p.merchantId)
    .where('dueAt', 'is not', null)
    .where('state', '<>', sql.lit('QUEUED'))
    .where('state', '<>', sql.lit('SUBMITTING')),
)

/** The same of what is to be posted again. */
export const shiftDeliveryDueTimes = statement((p: Params<DueTimeShift>) =>
  updateTable('webhookDeliveries')
    .set({ nextAttemptAt: sql<DueTime>`next_attempt_at - ${p.by}` })
    .where('merchantId', '=', p.merchantId)
    .where('status', '=', sql.lit('pending'))
    .where('nextAttemptAt', 'is not', null),
)

const openStates = ['QUEUED', 'SUBMITTING', 'UNKNOWN', 'ACCEPTED', 'ATTENTION'] as const

/** How many transfers of each rail are in each state that is not over; an operator's view. */
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

/** The transfers of a rail behind an order, of all merchants, with what their payouts pay; an operator's view. */
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
