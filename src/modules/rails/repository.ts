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

/** Queued orders are always due and are sorted by `dueAt`, so a clock that was ahead delays no order. */
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

export const railOrderById = queryOne((p: Params<{ orderId: string }>) =>
  acrossMerchants(
    selectFrom('payoutTransfers').select(['merchantId', 'orderId', 'rail']).where('orderId', '=', p.orderId),
  ),
)

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
 * Returns rail orders whose next poll is later than the poll schedule allows. Omits accepted orders that were never
 * polled, because the sandbox rail may set a later time for the first poll.
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

export const pollRailOrdersNow = statement(
  (p: Params<{ merchantId: string; orderIds: readonly string[]; dueAt: DueTime }>) =>
    updateTable('payoutTransfers')
      .set({ dueAt: p.dueAt })
      .where('orderId', 'in', listParam(p.orderIds))
      .where('merchantId', '=', p.merchantId)
      .where('state', '<>', sql.lit('QUEUED'))
      .where('dueAt', '>', p.dueAt),
)

/** Returns `null` if a bank message with this id exists. */
export const insertRailReport = statementOne((p: Params<Omit<NewRowOf<'railReports'>, 'readAt'>>) =>
  insertInto('railReports')
    .values({ ...pickParams(p, ['rail', 'messageId', 'body', 'receivedAt']), readAt: null })
    .onConflict((conflict) => conflict.columns(['rail', 'messageId']).doNothing())
    .returning('messageId'),
)

export const railReportById = queryOne((p: Params<{ rail: string; messageId: string }>) =>
  selectFrom('railReports').select('body').where('rail', '=', p.rail).where('messageId', '=', p.messageId),
)

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

/** Queued orders are always due. The timeout of a call in flight does not depend on the merchant's clock. */
export const shiftRailOrderDueTimes = statement((p: Params<DueTimeShift>) =>
  updateTable('payoutTransfers')
    .set({ dueAt: sql<DueTime>`due_at - ${p.by}` })
    .where('merchantId', '=', p.merchantId)
    .where('dueAt', 'is not', null)
    .where('state', '<>', sql.lit('QUEUED'))
    .where('state', '<>', sql.lit('SUBMITTING')),
)

export const shiftDeliveryDueTimes = statement((p: Params<DueTimeShift>) =>
  updateTable('webhookDeliveries')
    .set({ nextAttemptAt: sql<DueTime>`next_attempt_at - ${p.by}` })
    .where('merchantId', '=', p.merchantId)
    .where('status', '=', sql.lit('pending'))
    .where('nextAttemptAt', 'is not', null),
)

/** In these states, a rail order's `dueAt` is never `null`. */
const polledStates = ['SUBMITTING', 'UNKNOWN', 'ACCEPTED'] as const

/** Each part of the query reads a partial index, because most orders have ended. */
export const openRailOrderCounts = query(() => {
  const counts = () =>
    selectFrom('payoutTransfers')
      .select(['rail', 'state', sql<number>`count(*)`.as('rowCount')])
      .groupBy(['rail', 'state'])
  return acrossMerchants(
    counts()
      .where('state', '=', sql.lit('QUEUED'))
      .unionAll(counts().where('state', '=', sql.lit('ATTENTION')))
      .unionAll(
        counts()
          .where('dueAt', 'is not', null)
          .where('state', '<>', sql.lit('QUEUED'))
          .where((eb) => eb.or(polledStates.map((state) => eb('state', '=', sql.lit(state))))),
      )
      .orderBy('rail')
      .orderBy('state'),
  )
})

/** Rail order ids sort by creation time. */
export const newestRailOrders = query((p: Params<{ limit: number }>) =>
  acrossMerchants(
    selectFrom('payoutTransfers')
      .select(['merchantId', 'payoutId', 'rail', 'state', 'submittedAt', 'history'])
      .orderBy('orderId', 'desc')
      .limit(p.limit),
  ),
)

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

/**
 * Reads the primary key backwards, because order ids begin with the creation time. The lower bound `from` is inclusive.
 */
export const recentRailOrderCounts = query((p: Params<{ from: string; limit: number }>) =>
  acrossMerchants(
    selectFrom((eb) =>
      eb
        .selectFrom('payoutTransfers')
        .select(['rail', 'state'])
        .where('orderId', '>=', p.from)
        .orderBy('orderId', 'desc')
        .limit(p.limit)
        .as('recent'),
    )
      .select(['rail', 'state', sql<number>`count(*)`.as('rowCount')])
      .groupBy(['rail', 'state'])
      .orderBy('rail'),
  ),
)
