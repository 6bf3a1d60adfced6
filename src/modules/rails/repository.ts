import { sql } from 'kysely'
import type { DueTime } from '../../core/ids.ts'
import type { Params } from '../../database/query.ts'
import {
  acrossMerchants,
  change,
  from,
  into,
  list,
  query,
  queryOne,
  sameNames,
  statement,
  statementOne,
} from '../../database/query.ts'
import type { NewRowOf } from '../../database/tables.ts'

const due = ['merchantId', 'orderId', 'state'] as const

type Due = { rail: string; now: DueTime; limit: number }

/**
 * What is to be submitted to a rail, in order of age; an operator's view. It waits for its turn and for no time: one that was queued by
 * a clock that was ahead waits no longer.
 */
export const dueSubmissions = query((p: Params<Omit<Due, 'now'>>) =>
  acrossMerchants(
    from('payoutTransfers')
      .select(due)
      .where('rail', '=', p.rail)
      .where('state', '=', sql.lit('QUEUED'))
      .orderBy('dueAt')
      .limit(p.limit),
  ),
)

/** Of what a rail is to be asked; an operator's view. */
export const dueQuestions = query((p: Params<Due>) =>
  acrossMerchants(
    from('payoutTransfers')
      .select(due)
      .where('rail', '=', p.rail)
      .where('state', '<>', sql.lit('QUEUED'))
      .where('dueAt', '<=', p.now)
      .orderBy('dueAt')
      .limit(p.limit),
  ),
)

/** Whose an order is, and on which rail; an operator's view. */
export const orderById = queryOne((p: Params<{ orderId: string }>) =>
  acrossMerchants(from('payoutTransfers').select(['merchantId', 'orderId', 'rail']).where('orderId', '=', p.orderId)),
)

/** What a rail could not answer and is to be asked again later, and was not submitted too often; an operator's view. */
export const unknownOrders = query((p: Params<{ rail: string; after: DueTime; attempts: number; limit: number }>) =>
  acrossMerchants(
    from('payoutTransfers')
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
export const postponedOrders = query(
  (p: Params<{ rail: string; minAsked: number; maxAsked: number; after: DueTime; limit: number }>) =>
    acrossMerchants(
      from('payoutTransfers')
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
export const hastenOrders = statement(
  (p: Params<{ merchantId: string; orderIds: readonly string[]; dueAt: DueTime }>) =>
    change('payoutTransfers')
      .set({ dueAt: p.dueAt })
      .where('orderId', 'in', list(p.orderIds))
      .where('merchantId', '=', p.merchantId)
      .where('state', '<>', sql.lit('QUEUED'))
      .where('dueAt', '>', p.dueAt),
)

/** Keeps what a bank has posted, once; `null` where it was there. */
export const insertReport = statementOne((p: Params<Omit<NewRowOf<'railReports'>, 'readAt'>>) =>
  into('railReports')
    .values({ ...sameNames(p, ['rail', 'messageId', 'body', 'receivedAt']), readAt: null })
    .onConflict((conflict) => conflict.columns(['rail', 'messageId']).doNothing())
    .returning('messageId'),
)

/** What a bank has posted under an id. */
export const reportById = queryOne((p: Params<{ rail: string; messageId: string }>) =>
  from('railReports').select('body').where('rail', '=', p.rail).where('messageId', '=', p.messageId),
)

/** What was posted before a time, or after another, and not read yet, the oldest first. */
export const unreadReports = query((p: Params<{ rail: string; before: string; after: string; limit: number }>) =>
  from('railReports')
    .selectAll()
    .where('rail', '=', p.rail)
    .where('readAt', 'is', null)
    .where(({ eb, or }) => or([eb('receivedAt', '<', p.before), eb('receivedAt', '>', p.after)]))
    .orderBy('receivedAt')
    .limit(p.limit),
)

export const markReportRead = statement((p: Params<{ rail: string; messageId: string; readAt: string }>) =>
  change('railReports').set({ readAt: p.readAt }).where('rail', '=', p.rail).where('messageId', '=', p.messageId),
)

type AttentionRange = { since: string; orderId: string; limit: number }

/** The payouts that a person must look at behind a place, the oldest first. */
function attentionRows(p: Params<AttentionRange>) {
  return from('payoutTransfers')
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
export const attentionOfAll = query((p: Params<AttentionRange>) => acrossMerchants(attentionRows(p)))
type OwnRail = { merchantId: string; rail: string }

/** A merchant's orders that wait to be submitted to a rail. */
export const dueSubmissionsOf = query((p: Params<OwnRail>) =>
  from('payoutTransfers')
    .select(['orderId'])
    .where('rail', '=', p.rail)
    .where('merchantId', '=', p.merchantId)
    .where('state', '=', sql.lit('QUEUED'))
    .orderBy('dueAt'),
)

/** A merchant's orders of which a rail is to be asked. */
export const dueQuestionsOf = query((p: Params<OwnRail & { now: DueTime }>) =>
  from('payoutTransfers')
    .select(['orderId'])
    .where('rail', '=', p.rail)
    .where('merchantId', '=', p.merchantId)
    .where('state', '<>', sql.lit('QUEUED'))
    .where('dueAt', '<=', p.now)
    .orderBy('dueAt'),
)

/** When a rail is to be asked next of the merchant's orders, after a time. */
export const nextDueOf = queryOne((p: Params<OwnRail & { after: DueTime }>) =>
  from('payoutTransfers')
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
export const submittingOf = query((p: Params<OwnRail>) =>
  from('payoutTransfers')
    .select(['orderId'])
    .where('rail', '=', p.rail)
    .where('merchantId', '=', p.merchantId)
    .where('dueAt', 'is not', null)
    .where('state', '<>', sql.lit('QUEUED'))
    .where('state', '=', sql.lit('SUBMITTING')),
)

type Shift = { merchantId: string; by: bigint }

/**
 * Brings nearer what is to be asked of a merchant's orders, as its clock goes on; what waits is due already, and a call that is
 * under way takes as long as it takes.
 */
export const shiftTransfers = statement((p: Params<Shift>) =>
  change('payoutTransfers')
    .set({ dueAt: sql<DueTime>`due_at - ${p.by}` })
    .where('merchantId', '=', p.merchantId)
    .where('dueAt', 'is not', null)
    .where('state', '<>', sql.lit('QUEUED'))
    .where('state', '<>', sql.lit('SUBMITTING')),
)

/** The same of what is to be posted again. */
export const shiftDeliveries = statement((p: Params<Shift>) =>
  change('webhookDeliveries')
    .set({ nextAttemptAt: sql<DueTime>`next_attempt_at - ${p.by}` })
    .where('merchantId', '=', p.merchantId)
    .where('status', '=', sql.lit('pending'))
    .where('nextAttemptAt', 'is not', null),
)

const open = ['QUEUED', 'SUBMITTING', 'UNKNOWN', 'ACCEPTED', 'ATTENTION'] as const

/** How many transfers of each rail are in each state that is not over; an operator's view. */
export const openTransferCounts = query(() =>
  acrossMerchants(
    from('payoutTransfers')
      .select(['rail', 'state', sql<number>`count(*)`.as('rowCount')])
      .where((eb) => eb.or(open.map((state) => eb('state', '=', sql.lit(state)))))
      .groupBy(['rail', 'state'])
      .orderBy('rail')
      .orderBy('state'),
  ),
)

/** The transfers of a rail behind an order, of all merchants, with what their payouts pay; an operator's view. */
export const transfersOfRail = query((p: Params<{ rail: string; after: string; limit: number }>) =>
  acrossMerchants(
    from('payoutTransfers')
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
